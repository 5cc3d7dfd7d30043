// Overview: how many models are one graph, what breaks, what changed, whether delivery works, and the running sweep.
import { html, useEffect, useState } from '../vendor/preact-htm.js';
import { address } from '../address.js';
import { useRead } from '../api.js';
import { Chart } from '../chart.js';
import { Badge, Bars, Body, Figure, Figures, Problem, ReasonLink, ResultLink, Section, Select, SweepLink, Table, Time, counted, duration, number, percent, share, visible } from '../parts.js';

const kRunningS = 2, kIdleS = 15, kRanges = { month: 31, quarter: 92, year: 366, all: null };

export function List({ query }) {
  const [every, setEvery] = useState(kIdleS);
  const status = useRead('status', {}, every);
  const now = status.data;
  useEffect(() => setEvery(now?.running ? kRunningS : kIdleS), [Boolean(now?.running)]);
  return html`<h1 tabindex="-1">Overview</h1>
    <${Problem} problem=${status.problem} />
    ${now && html`<${Head} status=${now} />${now.running && html`<${Running} sweep=${now.running} />`}`}
    <${Trend} query=${query} sweep=${now?.last_sweep_id} />
    <div class="columns">
      <${Families} sweep=${now?.last_sweep_id} />
      <${Changes} sweep=${now?.last_sweep_id} />
      <${TopReasons} sweep=${now?.last_sweep_id} />
      <${Delivery} />
    </div>`;
}

function Head({ status }) {
  return html`<${Figures}>
    <${Figure} label="Models in one graph" value=${percent(share(status.full_graph, status.models_with_numbers))}
      note="${number(status.full_graph)} of ${counted(status.models_with_numbers, 'model')} with numbers" />
    <${Figure} label="Models tracked" value=${number(status.models_tracked)}
      note="${number(status.models_tracked - status.models_with_numbers)} without numbers" />
    <${Figure} label="Last success" value=${html`<${Time} at=${status.last_success} />`} note=${html`<${SweepLink} id=${status.last_sweep_id} />`} />
    <${Figure} label="Next sweep" value=${html`<${Time} at=${status.next_due} none="not planned" />`}
      note=${status.interval_s > 0 ? `every ${duration(status.interval_s)}` : 'no interval is configured'} />
  </${Figures}>`;
}

function Running({ sweep }) {
  return html`<${Section} title="Running sweep" more=${html`<${SweepLink} id=${sweep.sweep_id} />`}>
    <progress max=${sweep.total || 1} value=${sweep.done} aria-label="Results of the running sweep"></progress>
    <p>${number(sweep.done)} of ${number(sweep.total)} results, ${sweep.eta_s === null ? 'time left unknown' : `about ${duration(sweep.eta_s)} left`},
      started <${Time} at=${sweep.started_at} />, toolchain ${sweep.toolchain}${sweep.newest && html`, newest <span class="name">${visible(sweep.newest)}</span>`}</p>
    <div class="badges">${Object.entries(sweep.statuses).map(([status, count]) => html`<span><${Badge} of=${status} /> ${number(count)}</span>`)}</div>
  </${Section}>`;
}

function Trend({ query, sweep }) {
  const by = query.by === 'family' ? 'family' : 'all';
  const days = kRanges[query.range in kRanges ? query.range : 'quarter'];
  const since = days && new Date(Date.now() - days * 86400000).toISOString().slice(0, 10);
  const trends = useRead('trends', { by, since }, 0, sweep);
  const fields = html`<div class="filters">
    <${Select} label="Lines" name="by" value=${by === 'family' ? 'family' : ''} options=${['family']} none="all models" />
    <${Select} label="Range" name="range" value=${query.range in kRanges ? query.range : 'quarter'} options=${Object.keys(kRanges)} none=${null} />
  </div>`;
  const series = (data) => data.series.filter((one) => one.points.length > 0)
    .map((one) => ({ name: one.family ?? 'all models', points: one.points.map((point) => ({ day: point.day, value: point.full_graph_share })) }));
  return html`<${Section} title="Share of models in one graph" more=${fields}>
    <${Body} of=${trends}>${(data) => html`<${Chart} label="Share of models with numbers that are one graph, by day" series=${series(data).length > 0 ? series(data) : [{ name: 'all models', points: [] }]}
      format=${(value) => `${(100 * value).toFixed(0)} %`} range=${(_, low, high) => [Math.max(0, Math.floor(10 * (low ?? 0) - 0.2) / 10), Math.min(1, Math.ceil(10 * (high ?? 1) + 0.2) / 10)]} />`}</${Body}></${Section}>`;
}

// `sweep` is not a parameter of these: it makes them read again when a sweep has ended.
function Families({ sweep }) {
  const families = useRead('families', {}, 0, sweep);
  const columns = [
    { title: 'Family', cell: (row) => html`<a href=${address(['models'], { family: row.family })}>${row.family.replaceAll('_', ' ')}</a>` },
    { title: 'In one graph', numeric: true, cell: (row) => percent(row.full_graph_share) },
    { title: 'With numbers', numeric: true, cell: (row) => `${number(row.models_with_numbers)} / ${number(row.models_tracked)}` },
    { title: 'Breaks', numeric: true, cell: (row) => number(row.breaks) },
    { title: 'Sites', numeric: true, cell: (row) => number(row.break_sites) },
  ];
  return html`<${Section} title="Breaks by family"><${Body} of=${families}>${(data) => html`
    <${Table} label="Breaks by family" columns=${columns} rows=${data.families} empty="No model is tracked yet. Run a sweep." />`}</${Body}></${Section}>`;
}

function Changes({ sweep }) {
  const changes = useRead('compare', { a: 'previous', b: 'latest', limit: 10 }, 0, sweep);
  const more = html`<a href=${address(['compare'], { a: 'previous', b: 'latest' })}>All changes</a>`;
  const columns = [
    { title: 'Verdict', cell: (row) => html`<${Badge} of=${row.verdict} />` },
    { title: 'Model', wide: true, cell: (row) => html`<${ResultLink} name=${row.model} mode=${row.mode} />` },
    { title: 'Breaks', numeric: true, cell: (row) => `${number(row.breaks_a)} → ${number(row.breaks_b)}` },
  ];
  const missing = changes.problem?.status === 404;
  return html`<${Section} title="Since the last sweep" more=${!missing && more}>
    ${missing ? html`<p class="muted">There is nothing to compare with before the second sweep.</p>`
    : html`<${Body} of=${changes}>${(data) => html`
      <p>${data.summary}</p>
      <${Table} label="Changes since the last sweep" columns=${columns} rows=${data.models} empty="No result changed." />`}</${Body}>`}</${Section}>`;
}

function TopReasons({ sweep }) {
  const reasons = useRead('reasons', { sort: '-leverage' }, 0, sweep);
  const rows = (data) => data.reasons.slice(0, 8).map((row) => ({ name: html`<${ReasonLink} row=${row} />`, value: row.leverage, text: `${counted(row.leverage, 'model')}` }));
  return html`<${Section} title="Models unblocked by one fix" more=${html`<a href=${address(['reasons'], { sort: '-leverage' })}>All reasons</a>`}>
    <${Body} of=${reasons}>${(data) => (data.reasons.length === 0 ? html`<p class="muted">No break is known.</p>` : html`
      <${Bars} label="Models all of whose breaks have one reason" rows=${rows(data)} />
      <p class="muted">Models all of whose breaks have this reason. An upper bound: Dynamo can find another break behind it.</p>`)}</${Body}></${Section}>`;
}

function Delivery() {
  const exporters = useRead('exporters', {}, kIdleS);
  const columns = [
    { title: 'Exporter', cell: (row) => row.exporter },
    { title: 'State', cell: (row) => html`<${Badge} ...${stateOf(row)} />` },
    { title: 'Last success', cell: (row) => html`<${Time} at=${row.last_success} />` },
    { title: 'Pending', numeric: true, cell: (row) => number(row.events_pending) },
    { title: 'Dead', numeric: true, cell: (row) => number(row.dead_letters) },
  ];
  return html`<${Section} title="Delivery" more=${html`<a href=${address(['health'])}>Health</a>`}><${Body} of=${exporters}>${(data) => html`
    <${Table} label="Delivery" columns=${columns} rows=${data.exporters} empty="No exporter is configured." />`}</${Body}></${Section}>`;
}

export function stateOf(row) {
  if (row.paused) return { of: 'paused', tone: 'bad' };
  if (row.dead_letters > 0) return { of: 'refused events', tone: 'warn' };
  if (row.last_failure && (!row.last_success || row.last_failure > row.last_success)) return { of: 'failing', tone: 'bad' };
  if (row.last_success) return { of: 'working', tone: 'good' };
  return { of: 'not used yet', tone: 'plain' };
}
