// The shell: navigation, the view that the address names, and the focus after a change of view.
import { html, render, useEffect, useRef, useState } from './vendor/preact-htm.js';
import { address, useAddress } from './address.js';
import { useRead } from './api.js';
import { visible } from './parts.js';

// The first part of the address -> title and the file with `List` (no further part) and `One` (with a name).
const kViews = {
  '': { title: 'Overview', file: 'overview', every: 15 },
  models: { title: 'Models', file: 'models' },
  reasons: { title: 'Reasons', file: 'reasons' },
  sites: { title: 'Sites', file: 'sites' },
  compare: { title: 'Compare', file: 'compare' },
  sweeps: { title: 'Sweeps', file: 'sweeps' },
  health: { title: 'Health', file: 'health' },
};

const Nothing = () => html`<h1 tabindex="-1">No such view</h1><p><a href="#/">Go to the overview</a></p>`;

function useModule(file) {
  const [state, set] = useState({});
  useEffect(() => {
    if (!file) return;
    import(`./views/${file}.js`).then((module) => set({ file, module }), () => set({ file, failed: true }));
  }, [file]);
  return state.file === file ? state : {};
}

function View({ parts, query }) {
  const view = kViews[parts[0] ?? ''];
  const { module, failed } = useModule(view?.file);
  const place = useRef(null);
  const started = useRef(false);
  const name = parts.slice(1).join('/');
  useEffect(() => {
    document.title = `${visible(name) || view?.title || 'No such view'} · breakwatch`;
    scrollTo(0, 0);
    // Not at the start: the first key should reach the skip link.
    if (started.current) place.current?.querySelector('h1')?.focus();
    if (module) started.current = true;
  }, [parts[0], name, module]);
  let body = html`<p class="muted">Loading…</p>`;
  if (!view) body = html`<${Nothing} />`;
  else if (failed) body = html`<div class="problem" role="alert"><strong>The view cannot be loaded</strong><span>Reload the page.</span></div>`;
  else if (module && name && !module.One) body = html`<${Nothing} />`;
  else if (module && name) body = html`<${module.One} name=${name} query=${query} />`;
  else if (module) body = html`<${module.List} query=${query} />`;
  return html`<main id="main" ref=${place} tabindex="-1"><div key=${`${view?.file} ${name}`}>${body}</div></main>`;
}

function App() {
  const { parts, query } = useAddress();
  const version = useRead('version');
  const here = parts[0] ?? '';
  const skip = (event) => {
    event.preventDefault();
    document.getElementById('main').focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header><a class="brand" href="#/">breakwatch</a>
      <nav aria-label="Views">${Object.entries(kViews).map(
        ([key, view]) => html`<a href=${address(key ? [key] : [])} aria-current=${key === here ? 'page' : undefined}>${view.title}</a>`,
      )}</nav></header>
    <${View} parts=${parts} query=${query} />
    <footer>breakwatch ${version.data?.version ?? ''} · <a href="api/v1/openapi.json">HTTP API</a> · <a href="metrics/models">metrics</a></footer>`;
}

const place = document.getElementById('app');
place.replaceChildren();
render(html`<${App} />`, place);
