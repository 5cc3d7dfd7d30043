// Models: the tracked models, filtered, sorted and paged by the server. One: views/model.js.
import { html } from '../vendor/preact-htm.js';
import { useRead } from '../api.js';
import { Badge, Body, ModelLink, Pager, Search, Section, Select, Table, Time, counted, kFamilies, kStatuses, number, short } from '../parts.js';

export { One } from './model.js';

const kRows = 50;

// A word without selector syntax searches inside names.
export function selectorOf(text) {
  const word = text.trim();
  if (word === '') return undefined;
  return /[\s*:()@!,]/.test(word) || /^(not|and|or)$/i.test(word) ? word : `*${word}*`;
}

const kColumns = [
  { title: 'Rank', sort: 'rank', numeric: true, cell: (row) => (row.rank > 0 ? number(row.rank) : '–') },
  { title: 'Model', sort: 'model', wide: true, cell: (row) => html`<${ModelLink} name=${row.model} />` },
  { title: 'Family', sort: 'family', cell: (row) => row.family.replaceAll('_', ' ') },
  { title: 'Status', sort: 'status', cell: (row) => html`<span title=${row.status_detail}><${Badge} of=${row.status} /></span>` },
  { title: 'Breaks', sort: 'breaks', numeric: true, cell: (row) => number(row.breaks) },
  { title: 'Sites', sort: 'break_sites', numeric: true, cell: (row) => number(row.break_sites) },
  { title: 'Graphs', sort: 'graphs', numeric: true, cell: (row) => number(row.graphs) },
  { title: 'Ops', sort: 'ops_captured', numeric: true, cell: (row) => number(row.ops_captured) },
  { title: 'Downloads', sort: 'downloads', numeric: true, cell: (row) => short(row.downloads) },
  { title: 'Captured', sort: 'captured_at', cell: (row) => html`<${Time} at=${row.captured_at} />` },
];

export function List({ query }) {
  const { family, status, reason, gb_id, cursor, sort = 'rank', q = '' } = query;
  const models = useRead('models', { filter: selectorOf(q), family, status, reason, gb_id, sort, cursor, limit: kRows });
  const filtered = q || family || status || reason || gb_id;
  return html`<h1 tabindex="-1">Models</h1>
    <div class="filters">
      <${Search} label="Name or selector" name="q" value=${q} hint="bert, org/*, arch:*ForCausalLM, not family:nlp" />
      <${Select} label="Family" name="family" value=${family} options=${kFamilies} />
      <${Select} label="Status" name="status" value=${status} options=${kStatuses} />
      ${(reason || gb_id) && html`<${Select} label="Reason" name=${gb_id ? 'gb_id' : 'reason'} value=${gb_id ?? reason} options=${[gb_id ?? reason]} />`}
    </div>
    <${Body} of=${models}>${(data) => html`<section class="card">
      <p role="status" class="muted">${filtered ? `${counted(data.models_matched, 'model')} of ${number(data.models_tracked)}` : `${counted(data.models_tracked, 'model')} tracked`},
        ${' '}toolchain ${data.toolchain || 'none'}</p>
      <${Table} label="Models" columns=${kColumns} rows=${data.models} sort=${sort}
        empty=${filtered ? 'No tracked model matches.' : 'No model is tracked yet: run `breakwatch sweep`.'} />
      <${Pager} next=${data.next} cursor=${cursor} />
    </section>`}</${Body}>`;
}
