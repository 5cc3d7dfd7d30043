// The fixes that were tried on a model: a line in the result of another mode, everything in that of mode `fix`.
import { html } from '../vendor/preact-htm.js';
import { address } from '../address.js';
import { Badge, Copy, ReasonLink, Section, SiteLink, Table, counted, number } from '../parts.js';

const kTones = { whole: 'good', better: 'good', worse: 'bad', different_result: 'bad' };

export function Fixes({ model }) {
  if (model.mode === 'fix' && model.mode_detail?.attempts) return html`<${Tried} detail=${model.mode_detail} />`;
  const others = model.other_results.filter((other) => other.fixes);
  if (others.length > 0) {
    return html`<${Section} title="Fixes">${others.map((other) => html`<p><a
      href=${address(['models', model.model], { mode: other.mode, toolchain: other.toolchain })}>Tried on ${other.toolchain}</a>: ${other.fixes}</p>`)}</${Section}>`;
  }
  return model.breaks > 0 && html`<${Section} title="Fixes"><p class="muted">None was tried on this model: see “Repeat it”.</p></${Section}>`;
}

function Tried({ detail }) {
  const best = detail.attempts[detail.best];
  const change = (row, count) => (row.after ? `${number(detail.before[count])} → ${number(row.after[count])}` : '–');
  return html`<${Section} title="Fixes" more=${html`<span class="muted">${counted(detail.attempts.length, 'attempt')}</span>`}>
    ${detail.stopped && html`<p class="muted">Not all were tried: the time for this model was over.</p>`}
    <${Table} label="Fixes that were tried" rows=${detail.attempts} empty="No fix applies to this model." columns=${[
      { title: 'Fix', wide: true, cell: (row) => html`<span class="code">${row.names.join(' + ')}</span>` },
      { title: 'Outcome', cell: (row) => html`<${Badge} of=${row.outcome || row.status} tone=${kTones[row.outcome]} />` },
      { title: 'Breaks', numeric: true, cell: (row) => change(row, 'breaks') },
      { title: 'Sites', numeric: true, cell: (row) => change(row, 'sites') },
      { title: 'Graphs', numeric: true, cell: (row) => change(row, 'graphs') },
      { title: 'Ops', numeric: true, cell: (row) => change(row, 'ops') },
      { title: 'Detail', wide: true, cell: (row) => row.detail },
    ]} />
    ${best && html`<${Recommended} attempt=${best} />`}
    ${detail.left.length > 0 && html`<${Left} sites=${detail.left} />`}
  </${Section}>`;
}

function Recommended({ attempt }) {
  const text = attempt.python.join('\n');
  return html`<h3>Recommended: ${attempt.names.join(' + ')}</h3>
    <div class="actions"><pre tabindex="0">${text}</pre><${Copy} text=${text} /></div>
    ${attempt.caution && html`<p>Caution: ${attempt.caution}</p>`}`;
}

function Left({ sites }) {
  const columns = [
    { title: 'Place', wide: true, cell: (site) => html`<${SiteLink} row=${site} />` },
    { title: 'Reason', wide: true, cell: (site) => html`<${ReasonLink} row=${site} />` },
    { title: 'Code of', cell: (site) => site.owner },
    { title: 'Dynamo reports', wide: true, cell: (site) => [site.explanation, ...(site.hints ?? [])].filter(Boolean).join(' ') },
  ];
  return html`<h3>Sites that no fix removes</h3><${Table} label="Sites that no fix removes" rows=${sites} columns=${columns} />`;
}
