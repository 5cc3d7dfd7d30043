// What all views share: tables, badges, numbers, problems.
import { html, useState, useEffect } from './vendor/preact-htm.js';
import { address, change } from './address.js';

export const kFamilies = ['nlp', 'vision', 'audio', 'multimodal', 'tabular', 'reinforcement_learning', 'other', 'unknown'];
export const kStatuses = [
  'full_graph', 'graph_breaks', 'failed_resolve', 'failed_create', 'failed_inputs', 'failed_eager', 'failed_capture', 'failed_build',
  'failed_check', 'wrong_result', 'failed_publish', 'timeout', 'out_of_memory', 'crashed', 'worker_lost', 'quarantined', 'not_attempted', 'skipped_gated', 'skipped_custom_code',
  'skipped_too_large', 'skipped_no_config', 'skipped_unsupported_library', 'skipped_missing_dependency', 'skipped_disabled',
  'skipped_not_found', 'skipped_filtered',
];

// --- text

const grouped = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const number = (value) => (value === null || value === undefined ? '–' : grouped.format(value));
export const short = (value) => (value === null || value === undefined ? '–' : compact.format(value));
export const percent = (share) => (share === null || share === undefined ? '–' : `${(100 * share).toFixed(1)} %`);
export const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
export const share = (part, whole) => (whole > 0 ? part / whole : null);

export function duration(seconds) {
  if (seconds === null || seconds === undefined || seconds < 0) return '–';
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

export const secondsBetween = (from, to) => (from && to ? (new Date(to) - new Date(from)) / 1000 : null);

// A time of the API in the reader's own zone; its text is a tooltip as well.
export function Time({ at, none = 'never' }) {
  if (!at) return html`<span class="muted">${none}</span>`;
  const time = new Date(at);
  const age = (Date.now() - time) / 1000;
  const text = age < 0 ? `in ${duration(-age)}` : `${duration(age)} ago`;
  return html`<time datetime=${at} title=${time.toLocaleString()}>${text}</time>`;
}

// Control characters and those that change the direction of text, made visible: a name cannot pass for another one.
export const visible = (text) => text.replace(/[\p{Cc}\p{Cf}]/gu, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);

// --- marks

function toneOf(status) {
  if (status === 'full_graph' || status === 'better' || status === 'finished' || status === 'done') return 'good';
  if (status === 'graph_breaks' || status === 'mixed' || status === 'flaky' || status === 'interrupted') return 'warn';
  if (/^(failed|crashed|timeout|out_of_memory|worker_lost|quarantined|worse|gone|dead)/.test(status ?? '')) return 'bad';
  return 'plain';
}

export const Badge = ({ of, tone }) => html`<span class="badge ${tone ?? toneOf(of)}">${(of ?? '–').replaceAll('_', ' ')}</span>`;

export const reasonKey = (row) => row.gb_id || row.reason;
export const ReasonLink = ({ row }) =>
  html`<a href=${address(['reasons', reasonKey(row)])}>${row.reason}</a>${row.gb_id && html` <span class="muted code">${row.gb_id}</span>`}`;
// A result of a comparison or table: the mode is shown unless it is the usual one, eval.
export const ResultLink = ({ name, mode }) => {
  const other = mode && mode !== 'eval' ? mode : undefined;
  return html`<${ModelLink} name=${name} query=${{ mode: other }} />${other && ` (${other})`}`;
};
export const ModelLink = ({ name, query }) => html`<a class="name" href=${address(['models', name], query)} title=${visible(name)}>${visible(name)}</a>`;
// Lines break after the folders of a path.
const Place = ({ row }) => place(row).split('/').map((part, i) => html`${i > 0 && html`/<wbr />`}${part}`);
export const SiteLink = ({ row }) => html`<a class="code" href=${address(['sites', row.site_id])}><${Place} row=${row} /></a>`;
export const SweepLink = ({ id }) => (id ? html`<a class="code" href=${address(['sweeps', id])}>${id}</a>` : html`<span class="muted">none</span>`);
export const place = (row) => (row.line > 0 ? `${row.file}:${row.line}` : row.file || 'unknown place');

// A link to elsewhere, from data: only https, never a script.
export const Outside = ({ url, children }) =>
  /^https:\/\//.test(url ?? '') ? html`<a href=${url} rel="noreferrer noopener" target="_blank">${children}</a>` : null;

export function Copy({ text }) {
  const [done, set] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => set(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  if (!navigator.clipboard) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => set(true), () => set(false));
  return html`<button type="button" onClick=${copy}>${done ? 'Copied' : 'Copy'}</button>`;
}

// --- state of a read

export const Problem = ({ problem }) =>
  problem && html`<div class="problem" role="alert"><strong>${problem.title}</strong><span>${problem.detail}</span></div>`;

// The body of a view, as soon as there is data; below a problem the data from before stays.
export function Body({ of, children }) {
  const { data, problem, loading } = of;
  return html`<div class=${data && loading ? 'stale' : undefined} aria-busy=${loading}>
    <${Problem} problem=${problem} />${data ? children(data) : !problem && html`<p class="muted">Loading…</p>`}</div>`;
}

export function Section({ title, more, children }) {
  return html`<section class="card"><div class="head"><h2>${title}</h2>${more}</div>${children}</section>`;
}

export const Figure = ({ label, value, note }) =>
  html`<div class="figure"><dt>${label}</dt><dd><b>${value}</b>${note && html`<span>${note}</span>`}</dd></div>`;
export const Figures = ({ children }) => html`<dl class="figures">${children}</dl>`;

// --- table

// columns: [{title, cell(row), sort?, numeric?, wide?}]. A column with `sort` sorts on the server: the name, downwards first if numeric.
export function Table({ label, columns, rows, sort, sortName = 'sort', empty = 'Nothing here.' }) {
  if (rows.length === 0) return html`<p class="muted">${empty}</p>`;
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0">
    <table>
      <caption class="unseen">${label}</caption>
      <thead><tr>${columns.map((column) => html`<${Heading} column=${column} sort=${sort} sortName=${sortName} />`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${columns.map((column) => html`<td class=${kind(column)}>${column.cell(row)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

const kind = (column) => [column.numeric && 'number', column.wide && 'wide'].filter(Boolean).join(' ') || undefined;

function Heading({ column, sort, sortName }) {
  if (!column.sort) return html`<th scope="col" class=${kind(column)}>${column.title}</th>`;
  const down = '-' + column.sort;
  const state = sort === column.sort ? 'ascending' : sort === down ? 'descending' : 'none';
  const first = column.numeric ? down : column.sort;
  const other = column.numeric ? column.sort : down;
  const click = () => change({ [sortName]: sort === first ? other : first });
  return html`<th scope="col" class=${kind(column)} aria-sort=${state}>
    <button type="button" class="sort" onClick=${click}>${column.title}<span aria-hidden="true">${{ ascending: ' ▲', descending: ' ▼', none: '' }[state]}</span></button>
  </th>`;
}

// First page and next page; the page before is one step back in the browser's history.
export function Pager({ next, cursor }) {
  if (!next && !cursor) return null;
  return html`<nav class="pager" aria-label="Pages">
    <button type="button" disabled=${!cursor} onClick=${() => change({ cursor: undefined })}>First page</button>
    <button type="button" disabled=${!cursor} onClick=${() => history.back()}>Previous</button>
    <button type="button" disabled=${!next} onClick=${() => change({ cursor: next })}>Next</button>
  </nav>`;
}

// --- fields that write their value into the address

export function Select({ label, name, value, options, none = 'all' }) {
  const pick = (event) => change({ [name]: event.target.value });
  return html`<label>${label}<select onChange=${pick}>
    ${none !== null && html`<option value="" selected=${!value}>${none}</option>`}
    ${options.map((option) => html`<option value=${option} selected=${value === option}>${option.replaceAll('_', ' ')}</option>`)}
  </select></label>`;
}

// Writes after a pause in typing, and at once on Enter.
export function Search({ label, name, value = '', hint, list, wait = 400 }) {
  const [text, set] = useState(value);
  useEffect(() => set(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => change({ [name]: text }, { replace: true }), wait);
    return () => clearTimeout(timer);
  }, [text, value]);
  const enter = (event) => {
    event.preventDefault();
    change({ [name]: text });
  };
  return html`<form role="search" onSubmit=${enter}>
    <label>${label}<input type="search" value=${text} placeholder=${hint} list=${list} maxlength="500" spellcheck=${false} autocomplete="off"
      onInput=${(event) => set(event.target.value)} /></label>
  </form>`;
}

// Horizontal bars: the share of each row's value in the largest one.
export function Bars({ label, rows }) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return html`<ul class="bars" aria-label=${label}>${rows.map(
    (row) => html`<li><span class="what">${row.name}</span>
      <span class="track" aria-hidden="true"><span style=${{ width: `${(100 * row.value) / (row.most ?? most)}%` }}></span></span>
      <span class="value">${row.text ?? number(row.value)}</span></li>`,
  )}</ul>`;
}
