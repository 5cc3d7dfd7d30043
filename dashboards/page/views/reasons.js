// Reasons: why graphs break, and what one fix would unblock. One: a reason with its trend, sites and models.
import { html } from '../vendor/preact-htm.js';
import { address } from '../address.js';
import { segment, useRead } from '../api.js';
import { Chart } from '../chart.js';
import { Body, Figure, Figures, ModelLink, Outside, ReasonLink, Section, Select, SiteLink, Table, counted, kFamilies, number, reasonKey, short } from '../parts.js';

const kShown = 25;

// The fixes that, alone, removed every event of the reason: the most models first.
const fixesOf = (row) => Object.entries(row.fixed_by || {}).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
const fixText = (row, [name, models]) => `${name} (${number(models)} of ${number(row.tried)})`;
const bestFix = (row) => (row.tried > 0 ? fixesOf(row).slice(0, 1).map((fix) => fixText(row, fix))[0] || 'none' : 'not tried');

const kColumns = [
  { title: 'Reason', sort: 'reason', wide: true, cell: (row) => html`<${ReasonLink} row=${row} />` },
  { title: 'Break events', sort: 'events', numeric: true, cell: (row) => number(row.events) },
  { title: 'Sites', sort: 'sites', numeric: true, cell: (row) => number(row.sites) },
  { title: 'Models', sort: 'models', numeric: true, cell: (row) => number(row.models) },
  { title: 'Unblocked by a fix', sort: 'leverage', numeric: true, cell: (row) => number(row.leverage) },
  { title: 'Made whole', numeric: true, cell: (row) => (row.tried > 0 ? number(row.made_whole) : '–') },
  { title: 'Downloads', sort: 'downloads', numeric: true, cell: (row) => short(row.downloads) },
  { title: 'Fix (models)', cell: (row) => html`<span class="code">${bestFix(row)}</span>` },
  { title: 'Fixability', cell: (row) => row.fixability || 'unknown' },
];

export function List({ query }) {
  const { family, sort = '-events' } = query;
  const reasons = useRead('reasons', { family, sort });
  return html`<h1 tabindex="-1">Reasons</h1>
    <div class="filters"><${Select} label="Family" name="family" value=${family} options=${kFamilies} /></div>
    <${Body} of=${reasons}>${(data) => html`<section class="card">
      <p role="status" class="muted">${counted(data.reasons.length, 'reason')}. “Unblocked by a fix” counts models all of whose breaks have the reason; “Made whole” those of them that a tried fix made one graph.</p>
      <${Table} label="Reasons" columns=${kColumns} rows=${data.reasons} sort=${sort} empty="No break is known." /></section>`}</${Body}>`;
}

export function One({ name }) {
  const reason = useRead('reasons/' + segment(name));
  return html`<${Body} of=${reason}>${(data) => html`<${Detail} reason=${data} />`}</${Body}>${!reason.data && html`<h1 tabindex="-1">${name}</h1>`}`;
}

function Trend({ reason }) {
  const trends = useRead('trends', { by: 'reason', reason });
  const points = (data) => data.series.flatMap((one) => one.points);
  const line = (data, name, key) => ({ name, points: points(data).map((point) => ({ day: point.day, value: point[key] })) });
  return html`<${Section} title="Trend"><${Body} of=${trends}>${(data) => html`<${Chart} label="Break events and models with this reason, by day"
    series=${[line(data, 'Break events', 'breaks'), line(data, 'Models', 'models')]} format=${short} />`}</${Body}></${Section}>`;
}

function Detail({ reason }) {
  const siteColumns = [
    { title: 'Place', wide: true, cell: (row) => html`<${SiteLink} row=${row} />` },
    { title: 'Function', cell: (row) => html`<span class="code">${row.function}</span>` },
    { title: 'Models', numeric: true, cell: (row) => number(row.models) },
    { title: 'Break events', numeric: true, cell: (row) => number(row.events) },
  ];
  const modelColumns = [
    { title: 'Rank', numeric: true, cell: (row) => (row.rank > 0 ? number(row.rank) : '–') },
    { title: 'Model', wide: true, cell: (row) => html`<${ModelLink} name=${row.model} />` },
    { title: 'Break events', numeric: true, cell: (row) => number(row.events) },
    { title: 'Only reason', cell: (row) => (row.only_reason ? 'yes' : 'no') },
  ];
  const filter = reason.gb_id ? { gb_id: reason.gb_id } : { reason: reason.reason };
  const more = (rows, link) => html`${rows.length > kShown && html`<span class="muted">the first ${kShown} of ${number(rows.length)}</span> `}<a href=${link}>All</a>`;
  return html`<h1 tabindex="-1">${reason.reason} <span class="muted code">${reason.gb_id}</span></h1>
    <p>${reason.fixability || 'unknown fixability'} ${reason.url && html`· <${Outside} url=${reason.url}>page of the reason</${Outside}>`}</p>
    <${Figures}>
      <${Figure} label="Break events" value=${number(reason.events)} note=${counted(reason.sites, 'site')} />
      <${Figure} label="Models" value=${number(reason.models)} note="${short(reason.downloads)} downloads" />
      <${Figure} label="Unblocked by a fix" value=${number(reason.leverage)} note="models, at most" />
      <${Figure} label="Made whole" value=${reason.tried > 0 ? number(reason.made_whole) : '–'} note="${counted(reason.tried || 0, 'model')} tried" />
    </${Figures}>
    ${reason.tried > 0 && html`<p>Fixes that, alone, removed every event: ${fixesOf(reason).map((fix) => fixText(reason, fix)).join(', ') || 'none'}</p>`}
    <${Trend} reason=${reasonKey(reason)} />
    <div class="columns">
      <${Section} title="Sites" more=${more(reason.at, address(['sites'], filter))}><${Table} label="Sites with this reason" columns=${siteColumns} rows=${reason.at.slice(0, kShown)} /></${Section}>
      <${Section} title="Models" more=${more(reason.with_reason, address(['models'], filter))}><${Table} label="Models with this reason" columns=${modelColumns} rows=${reason.with_reason.slice(0, kShown)} /></${Section}>
    </div>`;
}
