// Sites: the places in the code where graphs break. One: a site and the models that have it.
import { html } from '../vendor/preact-htm.js';
import { segment, useRead } from '../api.js';
import { Body, Figure, Figures, ModelLink, Pager, ReasonLink, Search, Section, Select, SiteLink, Table, counted, kFamilies, number, place, short } from '../parts.js';
import { Why } from './model.js';

const kColumns = [
  { title: 'Place', sort: 'file', wide: true, cell: (row) => html`<${SiteLink} row=${row} />` },
  { title: 'Function', cell: (row) => html`<span class="code">${row.function}</span>` },
  { title: 'Reason', wide: true, cell: (row) => html`<${ReasonLink} row=${row} />` },
  { title: 'Models', sort: 'models', numeric: true, cell: (row) => number(row.models) },
  { title: 'Break events', sort: 'events', numeric: true, cell: (row) => number(row.events) },
  { title: 'Downloads', sort: 'downloads', numeric: true, cell: (row) => short(row.downloads) },
];

export function List({ query }) {
  const { file, family, reason, gb_id, cursor, sort = '-models' } = query;
  const sites = useRead('sites', { file, family, reason, gb_id, sort, cursor, limit: 50 });
  return html`<h1 tabindex="-1">Sites</h1>
    <div class="filters">
      <${Search} label="File" name="file" value=${file} hint="modeling_bert.py" />
      <${Select} label="Family" name="family" value=${family} options=${kFamilies} />
      ${(reason || gb_id) && html`<${Select} label="Reason" name=${gb_id ? 'gb_id' : 'reason'} value=${gb_id ?? reason} options=${[gb_id ?? reason]} />`}
    </div>
    <${Body} of=${sites}>${(data) => html`<section class="card">
      <p role="status" class="muted">${counted(data.sites_matched, 'place')} in the code</p>
      <${Table} label="Sites" columns=${kColumns} rows=${data.sites} sort=${sort} empty="No site matches." />
      <${Pager} next=${data.next} cursor=${cursor} /></section>`}</${Body}>`;
}

export function One({ name }) {
  const site = useRead('sites/' + segment(name));
  const columns = [
    { title: 'Rank', numeric: true, cell: (row) => (row.rank > 0 ? number(row.rank) : '–') },
    { title: 'Model', wide: true, cell: (row) => html`<${ModelLink} name=${row.model} query=${{ break: name }} />` },
    { title: 'Family', cell: (row) => row.family.replaceAll('_', ' ') },
    { title: 'Break events', numeric: true, cell: (row) => number(row.events) },
    { title: 'Downloads', numeric: true, cell: (row) => short(row.downloads) },
  ];
  return html`<h1 tabindex="-1">${site.data ? place(site.data) : `Site ${name}`}</h1><${Body} of=${site}>${(data) => html`
    <${Figures}>
      <${Figure} label="Models" value=${number(data.models)} note="${short(data.downloads)} downloads" />
      <${Figure} label="Break events" value=${number(data.events)} />
      <${Figure} label="Families" value=${number(data.families.length)} note=${data.families.join(', ').replaceAll('_', ' ')} />
    </${Figures}>
    <${Section} title="Why"><${Why} site=${data} /></${Section}>
    <${Section} title="Models" more=${data.with_site.length > 200 && html`<span class="muted">the first 200</span>`}><${Table} label="Models with this site" columns=${columns} rows=${data.with_site.slice(0, 200)} /></${Section}>`}</${Body}>`;
}
