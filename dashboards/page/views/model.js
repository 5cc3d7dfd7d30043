// One model: numbers, anatomy, break sites, fixes, history, inputs, and the commands that show and repeat its capture.
import { html } from '../vendor/preact-htm.js';
import { address, change } from '../address.js';
import { segment, useRead } from '../api.js';
import { Fixes } from './fixes.js';
import { Badge, Body, Copy, Figure, Figures, ModelLink, Outside, Pager, ReasonLink, Section, SiteLink, SweepLink, Table, Time, counted, duration, number, place, short, visible } from '../parts.js';

const kMaxSegments = 200;

export function One({ name, query }) {
  const { mode, toolchain, sweep } = query;
  const model = useRead('models/' + segment(name), { mode, toolchain, sweep });
  return html`<h1 tabindex="-1">${visible(name)}</h1>
    <${Body} of=${model}>${(data) => html`<${Result} model=${data} query=${query} />`}</${Body}>
    <${HistoryOf} name=${name} query=${query} />`;
}

function Result({ model, query }) {
  const hasNumbers = model.breaks !== null;
  return html`
    <p><${Badge} of=${model.status} /> ${model.flaky && html`<${Badge} of="flaky" />`} ${model.family.replaceAll('_', ' ')} · ${model.architecture || model.model_type || 'unknown architecture'}
      ${' '}· mode ${model.mode} · toolchain ${model.toolchain} (torch ${model.torch}, transformers ${model.transformers})</p>
    ${model.status !== 'full_graph' && html`<p class="muted">${model.status_detail}</p>`}
    ${model.suggestion && html`<p><b>Suggestion:</b> ${model.suggestion}</p>`}
    <${Others} model=${model} />
    ${hasNumbers && html`<${Figures}>
      <${Figure} label="Breaks" value=${number(model.breaks)} note=${counted(model.break_sites, 'site')} />
      <${Figure} label="Graphs" value=${number(model.graphs)} note="${number(model.recompiles)} recompiles" />
      <${Figure} label="Ops captured" value=${number(model.ops_captured)} note="${number(model.frames_fallback)} of ${number(model.frames_total)} frames in eager mode" />
      <${Figure} label="Downloads" value=${short(model.downloads)} note=${model.rank > 0 ? `rank ${number(model.rank)}` : 'no rank'} />
      <${Figure} label="Capture time" value=${duration(model.capture_s)} note="${number(Math.round(model.peak_rss_mb))} MB" />
    </${Figures}>`}
    <${Times} model=${model} />
    ${hasNumbers && html`<${Anatomy} model=${model} query=${query} />`}
    <${Fixes} model=${model} />
    ${(model.error || model.output_tail) && html`<${Section} title="Error">${model.error && html`<pre tabindex="0">${model.error}</pre>`}
      ${model.output_tail && html`<details><summary>End of the output</summary><pre tabindex="0">${model.output_tail}</pre></details>`}</${Section}>`}
    <div class="columns"><${Inputs} model=${model} /><${Facts} model=${model} /></div>
    <${Commands} model=${model} />`;
}

function Others({ model }) {
  if (model.other_results.length === 0) return null;
  return html`<p>Other results: ${model.other_results.map((other, i) => html`${i > 0 && ', '}<a
    href=${address(['models', model.model], { mode: other.mode, toolchain: other.toolchain })}>${other.mode} on ${other.toolchain}</a> (${other.breaks === null ? other.status : counted(other.breaks, 'break')})`)}</p>
    ${model.differences.map((difference) => html`<p class="muted">${difference.text}</p>`)}`;
}

// The newest profile and benchmark, in a line each; of the result itself if it is one, its totals.
function Times({ model }) {
  const measured = model.other_results.filter((other) => other.measured);
  const profiles = model.mode_detail?.profiles ?? [];
  if (measured.length === 0 && profiles.length === 0) return null;
  const ms = (seconds) => (seconds === null || seconds === undefined ? '–' : (1000 * seconds).toFixed(3));
  return html`<${Section} title="Time of a call">
    ${measured.map((other) => html`<p><a href=${address(['models', model.model], { mode: other.mode, toolchain: other.toolchain })}>${other.mode}</a>: ${other.measured}</p>`)}
    ${profiles.map((profile) => html`<h3>Batch ${number(profile.batch)}${profile.dynamic ? ', dynamic shapes' : ''}</h3>
      <${Table} label="Times with batch ${profile.batch}" rows=${Object.entries(profile.totals ?? {}).map(([backend, cell]) => ({ backend, ...cell }))} columns=${[
        { title: 'Backend', cell: (row) => row.backend },
        { title: 'Median ms', numeric: true, cell: (row) => ms(row.median_s) },
        { title: '95 % interval', numeric: true, cell: (row) => `${ms(row.low_s)} to ${ms(row.high_s)}` },
        { title: 'P95 ms', numeric: true, cell: (row) => ms(row.p95_s) },
        { title: 'In graphs ms', numeric: true, cell: (row) => ms(row.graphs_s) },
        { title: 'In Python ms', numeric: true, cell: (row) => ms(row.python_s) },
        { title: 'Status', cell: (row) => html`<span title=${row.detail}>${row.status}</span>` },
      ]} />`)}</${Section}>`;
}

// --- anatomy

function Anatomy({ model, query }) {
  const sites = new Map(model.sites.map((site, i) => [site.site_id, { ...site, at: i + 1 }]));
  const chosen = sites.get(query.break) ?? null;
  const drawn = model.segments.slice(0, kMaxSegments);
  const ended = new Set(model.segments.map((one) => one.ended_by));
  const apart = [...sites.values()].filter((site) => !ended.has(site.site_id));
  const pick = (site) => change({ break: chosen?.site_id === site.site_id ? undefined : site.site_id, cursor: query.cursor }, { replace: true });
  const button = (site) => html`<button type="button" class="break" aria-pressed=${chosen?.site_id === site.site_id} onClick=${() => pick(site)}
    aria-label="break ${site.at}: ${site.reason}" title=${site.reason}>${site.at}</button>`;
  return html`<${Section} title="Anatomy" more=${html`<span class="muted">${counted(model.segments.length, 'graph')}, ${counted(model.sites.length, 'break site')}</span>`}>
    ${drawn.length > 0 && html`<p class="muted">Graphs in the order of compilation, each with its number of operations, and the break that ended it. Choose a break to see why.</p>
    <ol class="strip" aria-label="Graphs and breaks in order">${drawn.map((one) => {
      const site = sites.get(one.ended_by);
      return html`<li><${Graph} segment=${one} />${site ? button(site) : html`<span class="end">${one.ended_by ? 'break' : 'returns'}</span>`}</li>`;
    })}</ol>`}
    ${model.segments.length > kMaxSegments && html`<p class="muted">The first ${kMaxSegments} of ${counted(model.segments.length, 'graph')}; <code>breakwatch show</code> lists all.</p>`}
    ${apart.length > 0 && html`<h3>Breaks ${drawn.length > 0 ? 'that ended no graph of their own' : 'found'}</h3><div class="strip">${apart.map(button)}</div>`}
    ${model.sites.length === 0 && html`<p>No break: the model is one graph${model.graphs > 1 ? ' for each of its compiled frames' : ''}.</p>`}
    <div aria-live="polite">${chosen && html`<${Break} site=${chosen} model=${model} />`}</div>
    ${model.sites.length > 0 && html`<h3>Break sites</h3><${Table} label="Break sites of the model" rows=${[...sites.values()]} columns=${[
      { title: '#', cell: (site) => html`<a href=${address(['models', model.model], { ...query, break: site.site_id })}>${site.at}</a>` },
      { title: 'Reason', wide: true, cell: (site) => html`<${ReasonLink} row=${site} />` },
      { title: 'Place', wide: true, cell: (site) => html`<${SiteLink} row=${site} />` },
      { title: 'Function', cell: (site) => html`<span class="code">${site.function}</span>` },
      { title: 'Breaks', numeric: true, cell: (site) => number(site.occurrences) },
    ]} />`}
  </${Section}>`;
}

function Graph({ segment: one }) {
  const kinds = Object.entries(one.top_ops ?? {}).map(([name, count]) => `${name} ${count}`).join(', ');
  const total = one.ops_total ?? 0;
  return html`<div class="graph" style=${{ width: `${4.5 + 2.2 * Math.log2(1 + total / 8)}rem` }} title=${`${place(one)} in ${one.function}${kinds ? '\n' + kinds : ''}`}>
    <b>${one.ops_total === null ? 'graph' : counted(one.ops_total, 'op')}</b><span>${one.function || 'unknown'}${one.line > 0 ? `:${one.line}` : ''}</span></div>`;
}

// Also of views/sites.js.
export function Why({ site }) {
  return html`<dl class="facts">
    <dt>Reason</dt><dd><${ReasonLink} row=${site} /> · ${site.fixability || 'unknown'} ${site.url && html`· <${Outside} url=${site.url}>page of the reason</${Outside}>`}</dd>
    <dt>At</dt><dd><span class="code">${place(site)}</span> in <span class="code">${site.function}</span> (${site.frame || 'unknown'} code)</dd>
    ${site.stack?.length > 1 && html`<dt>Called by</dt><dd class="code">${site.stack.slice(0, -1).map((frame) => html`<div>${frame}</div>`)}</dd>`}
    ${site.module_path && html`<dt>Module</dt><dd class="code">${site.module_path}</dd>`}
    ${site.explanation && html`<dt>Why</dt><dd>${site.explanation}</dd>`}
    ${site.context && html`<dt>Context</dt><dd class="code">${site.context}</dd>`}
    ${site.hints?.length > 0 && html`<dt>Hints</dt><dd>${site.hints.map((hint) => html`<div>${hint}</div>`)}</dd>`}
    ${site.wrapped_in && html`<dt>Reported in</dt><dd>${site.wrapped_in}</dd>`}
  </dl>
  ${site.source_line && html`<pre class="code-line" tabindex="0">${site.source_line}</pre>`}`;
}

function Break({ site, model }) {
  const detail = useRead('sites/' + segment(site.site_id));
  const others = (data) => data.with_site.filter((row) => row.model !== model.model);
  return html`<h3 id="break">Break ${site.at}: ${site.reason}</h3><${Why} site=${site} />
    ${detail.problem?.status === 404 ? html`<p class="muted">No tracked model has this site at present.</p>`
    : html`<${Body} of=${detail}>${(data) => html`<p>${others(data).length === 0 ? 'No other tracked model has this site.'
      : html`<b>Also in ${counted(others(data).length, 'model')}:</b> ${others(data).slice(0, 8).map((row, i) => html`${i > 0 && ', '}<${ModelLink} name=${row.model} />`)}
        ${others(data).length > 8 && html`, <a href=${address(['sites', site.site_id])}>and more</a>`}`}</p>`}</${Body}>`}`;
}

// --- the rest

function Inputs({ model }) {
  return html`<${Section} title="Inputs">
    ${model.inputs ? html`<pre tabindex="0">${JSON.stringify(model.inputs, null, 2)}</pre>` : html`<p class="muted">The result has no inputs.</p>`}
    ${model.optional_left_out?.length > 0 && html`<p>Left out: ${model.optional_left_out.join(', ')}</p>`}</${Section}>`;
}

function Facts({ model }) {
  const row = (name, value) => value !== '' && value !== null && value !== undefined && html`<dt>${name}</dt><dd>${value}</dd>`;
  return html`<${Section} title="Capture"><dl class="facts">
    ${row('Commit', html`<span class="code">${model.revision || 'unresolved'}</span>`)}
    ${row('Sweep', html`<${SweepLink} id=${model.sweep_id} />`)}
    ${row('Finished', html`<${Time} at=${model.finished_at} />`)}
    ${row('Result', model.reused ? 'of an earlier capture' : model.shared_from ? `shared from ${model.shared_from}` : `captured: ${model.rebuild_reason || 'new'}`)}
    ${row('Parameters', model.params === null ? null : short(model.params))}
    ${row('Device', `${model.device}, ${model.dtype}`)}
    ${row('Depth', model.depth)}
    ${row('Python', model.python)}
    ${row('Dynamo counter', model.dynamo_counter_breaks)}
    ${row('Phases', Object.entries(model.phase_s).map(([phase, seconds]) => `${phase} ${seconds === null ? '–' : seconds.toFixed(2)} s`).join(', '))}
    ${row('Sandbox', model.sandbox)}
    ${row('Structure', model.structure && html`<span class="code">${model.structure}</span>`)}
  </dl></${Section}>`;
}

const quoted = (text) => (/^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function Commands({ model }) {
  const id = model.revision && model.config_source !== 'python' ? `${model.model}@${model.revision}` : model.model;
  const toolchain = model.toolchain === 'default' ? '' : ` --toolchain ${quoted(model.toolchain)}`;
  const mode = model.mode.split('+')[0];
  const again = ['profile', 'bench', 'fix'].includes(mode) ? `breakwatch ${mode} ${quoted(id)}` : `breakwatch sweep --model ${quoted(id)} --modes ${quoted(mode)}`;
  const lines = [`${again}${toolchain} --rebuild always`, `breakwatch show ${quoted(model.model)} --mode ${quoted(model.mode)}${toolchain}`];
  if (model.breaks > 0 && mode !== 'fix') lines.push(...['fix', 'repro'].map((command) => `breakwatch ${command} ${quoted(id)}${toolchain}`), `breakwatch issue ${quoted(model.model)}`);
  return html`<${Section} title="Repeat it">${lines.map((line) => html`<div class="actions"><pre tabindex="0">${line}</pre><${Copy} text=${line} /></div>`)}</${Section}>`;
}

function HistoryOf({ name, query }) {
  const history = useRead('history', { model: name, cursor: query.cursor, limit: 25 });
  const columns = [
    { title: 'Finished', cell: (row) => html`<${Time} at=${row.finished_at} />` },
    { title: 'Commit', cell: (row) => html`<span class="code" title=${row.revision}>${row.revision.slice(0, 8) || '–'}</span>` },
    { title: 'Mode', cell: (row) => row.mode },
    { title: 'Toolchain', cell: (row) => `${row.toolchain} (torch ${row.torch})` },
    { title: 'Status', cell: (row) => html`<span title=${row.status_detail}><${Badge} of=${row.status} /></span>` },
    { title: 'Breaks', numeric: true, cell: (row) => number(row.breaks) },
    { title: 'Sites', numeric: true, cell: (row) => number(row.break_sites) },
    { title: 'Graphs', numeric: true, cell: (row) => number(row.graphs) },
    { title: 'Captured', cell: (row) => (row.reused ? 'reused' : 'yes') },
    { title: 'Result', cell: (row) => html`<a href=${address(['models', name], { sweep: row.sweep_id, mode: row.mode })}>show</a>` },
  ];
  if (history.problem?.status === 404) return null;
  return html`<${Section} title="History"><${Body} of=${history}>${(data) => html`
    <${Table} label="History by commit and toolchain" columns=${columns} rows=${data.history} />
    <${Pager} next=${data.next} cursor=${query.cursor} />`}</${Body}></${Section}>`;
}
