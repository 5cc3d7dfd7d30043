// Sweeps: durations and statuses. One: a sweep with its failures and reasons.
import { html } from '../vendor/preact-htm.js';
import { address } from '../address.js';
import { segment, useRead } from '../api.js';
import { Badge, Bars, Body, Figure, Figures, ModelLink, Pager, ReasonLink, Section, Select, SweepLink, Table, Time, duration, number, secondsBetween } from '../parts.js';

const count = (sweep, test) => Object.entries(sweep.statuses).reduce((sum, [status, models]) => sum + (test(status) ? models : 0), 0);
const isFailure = (status) => !['full_graph', 'graph_breaks'].includes(status) && !status.startsWith('skipped_');

const kColumns = [
  { title: 'Sweep', cell: (row) => html`<${SweepLink} id=${row.sweep_id} />` },
  { title: 'State', cell: (row) => html`<${Badge} of=${row.state} />${row.state === 'finished' && !row.complete && html` <${Badge} of="incomplete" tone="warn" />`}` },
  { title: 'Started', cell: (row) => html`<${Time} at=${row.started_at} />` },
  { title: 'Duration', numeric: true, cell: (row) => duration(secondsBetween(row.started_at, row.finished_at)) },
  { title: 'Results', numeric: true, cell: (row) => number(row.planned) },
  { title: 'In one graph', numeric: true, cell: (row) => number(row.statuses.full_graph ?? 0) },
  { title: 'With breaks', numeric: true, cell: (row) => number(row.statuses.graph_breaks ?? 0) },
  { title: 'Failed', numeric: true, cell: (row) => number(count(row, isFailure)) },
  { title: 'Toolchain', cell: (row) => `${row.toolchain.name} (torch ${row.toolchain.torch})` },
  { title: 'Source', cell: (row) => `${row.source}, ${row.trigger}` },
];

export function List({ query }) {
  const { toolchain, cursor } = query;
  const sweeps = useRead('sweeps', { toolchain, cursor, limit: 50 }, 15);
  const version = useRead('version');
  return html`<h1 tabindex="-1">Sweeps</h1>
    <div class="filters"><${Select} label="Toolchain" name="toolchain" value=${toolchain} options=${version.data?.configured_toolchains ?? (toolchain ? [toolchain] : [])} /></div>
    <${Body} of=${sweeps}>${(data) => html`<section class="card">
      <${Table} label="Sweeps" columns=${kColumns} rows=${data.sweeps} empty="No sweep yet: run breakwatch sweep." />
      <${Pager} next=${data.next} cursor=${cursor} /></section>`}</${Body}>`;
}

export function One({ name }) {
  const sweep = useRead('sweeps/' + segment(name), {}, 15);
  const failures = useRead(`sweeps/${segment(name)}/failures`);
  const reasons = useRead(`sweeps/${segment(name)}/reasons`);
  return html`<h1 tabindex="-1">Sweep ${name}</h1>
    <${Body} of=${sweep}>${(data) => html`<${Head} sweep=${data} />`}</${Body}>
    <${Section} title="Failures"><${Body} of=${failures}>${(data) => html`<${Table} label="Models without numbers, by cause" rows=${data.failures} empty="Every model has numbers." columns=${[
      { title: 'Status', cell: (row) => html`<${Badge} of=${row.status} />` },
      { title: 'Mode', cell: (row) => row.mode },
      { title: 'Models', numeric: true, cell: (row) => number(row.models) },
      { title: 'Cause', wide: true, cell: (row) => html`${row.status_detail}${row.suggestion && html`<div class="muted">${row.suggestion}</div>`}` },
      { title: 'Example', wide: true, cell: (row) => html`<${ModelLink} name=${row.example_model} query=${{ mode: row.mode }} />` }]} />`}</${Body}></${Section}>
    <${Section} title="Reasons"><${Body} of=${reasons}>${(data) => html`<${Table} label="Reasons in this sweep" rows=${data.reasons.slice(0, 100)} empty="No break." columns=${[
      { title: 'Reason', wide: true, cell: (row) => html`<${ReasonLink} row=${row} />` },
      { title: 'Break events', numeric: true, cell: (row) => number(row.events) },
      { title: 'Sites', numeric: true, cell: (row) => number(row.sites) },
      { title: 'Models', numeric: true, cell: (row) => number(row.models) },
      { title: 'Unblocked by a fix', numeric: true, cell: (row) => number(row.leverage) }]} />`}</${Body}></${Section}>`;
}

function Head({ sweep }) {
  const statuses = Object.entries(sweep.statuses).sort((x, y) => y[1] - x[1]).map(([status, models]) => ({ name: html`<${Badge} of=${status} />`, value: models }));
  return html`<${Figures}>
      <${Figure} label="State" value=${sweep.state} note=${sweep.state === 'running' ? '' : sweep.complete ? 'complete' : 'incomplete'} />
      <${Figure} label="Started" value=${html`<${Time} at=${sweep.started_at} />`} note="by ${sweep.trigger}, from ${sweep.source}" />
      <${Figure} label="Duration" value=${duration(secondsBetween(sweep.started_at, sweep.finished_at))} />
      <${Figure} label="Results" value=${number(sweep.planned)} note="toolchain ${sweep.toolchain.name}, torch ${sweep.toolchain.torch}" />
    </${Figures}>
    <${Section} title="Statuses" more=${sweep.state === 'finished' && html`<a href=${address(['compare'], { a: sweep.sweep_id, b: 'latest' })}>Compare with the latest</a>`}><${Bars} label="Results by status" rows=${statuses} /></${Section}>`;
}
