// Health: exporters, refused events, quarantined models, requests, versions and settings.
import { html } from '../vendor/preact-htm.js';
import { useRead } from '../api.js';
import { Badge, Body, ModelLink, Pager, Search, Section, SweepLink, Table, Time, number } from '../parts.js';
import { stateOf } from './overview.js';

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

export function List({ query }) {
  return html`<h1 tabindex="-1">Health</h1><${Exporters} /><${DeadLetters} query=${query} />
    <div class="columns"><${Quarantine} /><${Versions} /></div><${Requests} /><${Settings} query=${query} />`;
}

function Exporters() {
  const exporters = useRead('exporters', {}, 15);
  return html`<${Section} title="Exporters"><${Body} of=${exporters}>${(data) => html`<${Table} label="Exporters" rows=${data.exporters} empty="No exporter is configured." columns=${[
    { title: 'Exporter', cell: (row) => row.exporter },
    { title: 'State', cell: (row) => html`<${Badge} ...${stateOf(row)} />` },
    { title: 'Attempts', numeric: true, cell: (row) => number(row.attempts) },
    { title: 'Failures', numeric: true, cell: (row) => number(row.failures) },
    { title: 'Pending', numeric: true, cell: (row) => number(row.events_pending) },
    { title: 'Oldest', cell: (row) => html`<${Time} at=${row.oldest_at} none="–" />` },
    { title: 'Dead letters', numeric: true, cell: (row) => number(row.dead_letters) },
    { title: 'Last success', cell: (row) => html`<${Time} at=${row.last_success} />` },
    { title: 'Last failure', cell: (row) => html`<${Time} at=${row.last_failure} />` }]} />`}</${Body}></${Section}>`;
}

function DeadLetters({ query }) {
  const letters = useRead('dead-letters', { cursor: query.cursor, limit: 10 });
  return html`<${Section} title="Dead letters"><${Body} of=${letters}>${(data) => html`<${Table} label="Dead letters" rows=${data.dead_letters} empty="No event was refused." columns=${[
    { title: 'Exporter', cell: (row) => row.exporter },
    { title: 'Event', numeric: true, cell: (row) => number(row.event_id) },
    { title: 'State', cell: (row) => html`<${Badge} of=${row.state} />` },
    { title: 'Refused', cell: (row) => html`<${Time} at=${row.refused_at} />` },
    { title: 'Why', wide: true, cell: (row) => row.reason },
    { title: 'Content', cell: (row) => html`<details><summary>${row.event?.msg ?? 'event'}</summary><pre tabindex="0">${JSON.stringify(row.event, null, 2)}</pre></details>` }]} />
    <${Pager} next=${data.next} cursor=${query.cursor} />`}</${Body}></${Section}>`;
}

function Quarantine() {
  const models = useRead('quarantine');
  return html`<${Section} title="Quarantine"><${Body} of=${models}>${(data) => html`<${Table} label="Quarantined models" rows=${data.quarantine} empty="No model is quarantined." columns=${[
    { title: 'Model', wide: true, cell: (row) => html`<${ModelLink} name=${row.model} />` },
    { title: 'Why', wide: true, cell: (row) => html`${row.status_detail}${row.suggestion && html`<div class="muted">${row.suggestion}</div>`}` },
    { title: 'Attempted', cell: (row) => html`<${Time} at=${row.attempted_at} />` }]} />`}</${Body}></${Section}>`;
}

function Versions() {
  const version = useRead('version');
  return html`<${Section} title="Versions"><${Body} of=${version}>${(data) => html`<p>breakwatch ${data.version}</p>
    <${Table} label="Toolchains" rows=${data.toolchains} empty="No toolchain has published results." columns=${[
      { title: 'Toolchain', cell: (row) => row.name },
      { title: 'torch', cell: (row) => row.torch },
      { title: 'transformers', cell: (row) => row.transformers },
      { title: 'Python', cell: (row) => row.python },
      { title: 'Device', cell: (row) => row.device }]} />`}</${Body}></${Section}>`;
}

function Requests() {
  const requests = useRead('requests', {}, 15);
  if (requests.data?.requests.length === 0) return null;
  return html`<${Section} title="Requests"><${Body} of=${requests}>${(data) => html`<${Table} label="Requests" rows=${data.requests.slice(0, 20)} columns=${[
    { title: 'Request', cell: (row) => html`<span class="code">${row.id}</span>` },
    { title: 'State', cell: (row) => html`<${Badge} of=${row.state} />` },
    { title: 'Requested', cell: (row) => html`<${Time} at=${row.requested_at} />` },
    { title: 'Sweep', cell: (row) => html`<${SweepLink} id=${row.sweep_id} />` },
    { title: 'Exit code', numeric: true, cell: (row) => row.exit_code ?? '–' },
    { title: 'Error', wide: true, cell: (row) => row.error?.message ?? '' }]} />`}</${Body}></${Section}>`;
}

function Settings({ query }) {
  const settings = useRead('settings');
  const wanted = (query.key ?? '').toLowerCase();
  const rows = (data) => data.settings.filter((row) => row.key.toLowerCase().includes(wanted));
  return html`<${Section} title="Settings">
    <div class="filters"><${Search} label="Key" name="key" value=${query.key} hint="exporters.loki" /></div>
    <${Body} of=${settings}>${(data) => html`<p class="muted">${data.files.length > 0 ? `Files: ${data.files.join(', ')}` : 'No settings file.'}</p>
    ${data.warnings.map((warning) => html`<p class="problem">${warning}</p>`)}
    <${Table} label="Settings" rows=${rows(data)} empty="No key matches." columns=${[
      { title: 'Key', cell: (row) => html`<span class="code">${row.key}</span>` },
      { title: 'Value', wide: true, cell: (row) => html`<span class="code">${text(row.value)}</span>` },
      { title: 'From', cell: (row) => row.origin },
      { title: 'Default', wide: true, cell: (row) => html`<span class="code muted">${text(row.default)}</span>` }]} />`}</${Body}></${Section}>`;
}
