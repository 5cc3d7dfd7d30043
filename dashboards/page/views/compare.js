// Compare: two sweeps, toolchains or commits, model by model and site by site.
import { html, useState } from '../vendor/preact-htm.js';
import { change } from '../address.js';
import { useRead } from '../api.js';
import { Badge, Body, Pager, ReasonLink, ResultLink, Section, Table, counted, number, place } from '../parts.js';

export function List({ query }) {
  const { a = 'previous', b = 'latest', all, cursor } = query;
  const compare = useRead('compare', { a, b, all: all === 'true' ? 'true' : undefined, cursor, limit: 50 });
  return html`<h1 tabindex="-1">Compare</h1>
    <${Form} key=${`${a} ${b}`} a=${a} b=${b} all=${all === 'true'} />
    <${Body} of=${compare}>${(data) => html`<${Result} comparison=${data} cursor=${cursor} />`}</${Body}>`;
}

function Form({ a, b, all }) {
  const [from, setFrom] = useState(a);
  const [to, setTo] = useState(b);
  const sweeps = useRead('sweeps', { limit: 50 });
  const version = useRead('version');
  const names = ['latest', 'previous', ...(version.data?.configured_toolchains ?? []).map((name) => `toolchain:${name}`), ...(sweeps.data?.sweeps ?? []).map((sweep) => sweep.sweep_id)];
  const submit = (event) => {
    event.preventDefault();
    change({ a: from.trim(), b: to.trim() });
  };
  const field = (label, value, set) => html`<label>${label}<input value=${value} list="states" required maxlength="300" spellcheck=${false} autocomplete="off" onInput=${(event) => set(event.target.value)} /></label>`;
  return html`<form class="filters" onSubmit=${submit}>
    ${field('A (old): a sweep, toolchain:NAME or ORG/NAME@COMMIT', from, setFrom)}
    ${field('B (new)', to, setTo)}
    <datalist id="states">${names.map((name) => html`<option value=${name}></option>`)}</datalist>
    <button type="submit">Compare</button>
    <button type="button" aria-pressed=${all} onClick=${() => change({ all: all ? undefined : 'true' })}>${all ? 'Only changes' : 'Unchanged models too'}</button>
  </form>`;
}

const sites = (list, sign) => list.slice(0, 5).map((site) => html`<div>${sign} <span class="code">${place(site)}</span> ${site.reason}</div>`);

const kColumns = [
  { title: 'Verdict', cell: (row) => html`<${Badge} of=${row.verdict} />` },
  { title: 'Model', wide: true, cell: (row) => html`<${ResultLink} name=${row.model} mode=${row.mode} />` },
  { title: 'Status', cell: (row) => (row.status_a === row.status_b ? html`<${Badge} of=${row.status_b} />` : html`<${Badge} of=${row.status_a} /> → <${Badge} of=${row.status_b} />`) },
  { title: 'Breaks', numeric: true, cell: (row) => `${number(row.breaks_a)} → ${number(row.breaks_b)}` },
  { title: 'What changed', wide: true, cell: (row) => html`
    ${sites(row.new_sites, '+')}${sites(row.gone_sites, '−')}${sites(row.changed_sites, '±')}
    ${row.changes.map((one) => html`<div>${one.quantity.replaceAll('_', ' ')} ${number(one.a)} → ${number(one.b)}</div>`)}
    ${row.note && html`<div class="muted">${row.note}</div>`}` },
];

function Result({ comparison, cursor }) {
  const { a, b } = comparison.totals.compared;
  const totals = [['Results compared', 'models'], ['In one graph', 'clean'], ['With breaks', 'broken'], ['Breaks', 'breaks'], ['Sites', 'sites']];
  return html`<section class="card"><p><b class="name">${comparison.a}</b> → <b class="name">${comparison.b}</b></p><p>${comparison.summary}</p>
      <div class="badges">${Object.entries(comparison.verdicts).filter(([, count]) => count > 0).map(([verdict, count]) => html`<span><${Badge} of=${verdict} /> ${number(count)}</span>`)}</div></section>
    <div class="columns">
      <${Section} title="Totals"><${Table} label="Totals of the compared models" rows=${totals} columns=${[
        { title: 'Total', cell: ([name]) => name },
        { title: 'A (old)', numeric: true, cell: ([, key]) => number(a[key]) },
        { title: 'B (new)', numeric: true, cell: ([, key]) => number(b[key]) }]} /></${Section}>
      <${Section} title="What differs"><${Table} label="Differences of the states" rows=${comparison.differences} empty="Same versions and commits." columns=${[
        { title: 'What', cell: (row) => row.what.replaceAll('_', ' ') },
        { title: 'A (old)', wide: true, cell: (row) => row.a },
        { title: 'B (new)', wide: true, cell: (row) => row.b },
        { title: 'Models', numeric: true, cell: (row) => number(row.models) }]} /></${Section}>
    </div>
    <${Section} title="Results" more=${html`<span class="muted">${counted(comparison.total, 'result')}, the worst first</span>`}>
      <${Table} label="Compared results" columns=${kColumns} rows=${comparison.models} empty="No model changed." />
      <${Pager} next=${comparison.next} cursor=${cursor} /></${Section}>
    <${Section} title="Reasons"><${Table} label="Reasons that changed" rows=${comparison.reasons} empty="No reason changed." columns=${[
      { title: 'Reason', wide: true, cell: (row) => html`<${ReasonLink} row=${row} />` },
      { title: 'Breaks', numeric: true, cell: (row) => `${number(row.breaks_a)} → ${number(row.breaks_b)}` },
      { title: 'Sites', numeric: true, cell: (row) => `${number(row.sites_a)} → ${number(row.sites_b)}` },
      { title: 'Models', numeric: true, cell: (row) => `${number(row.models_a)} → ${number(row.models_b)}` }]} /></${Section}>`;
}
