// The address of a view: `#/models/org%2Fname?sort=-breaks`. All state of a view is in it, so that each view can be linked.
import { useEffect, useState } from './vendor/preact-htm.js';

function parse(hash) {
  const text = hash.replace(/^#\/?/, '');
  const cut = text.indexOf('?');
  const path = cut < 0 ? text : text.slice(0, cut);
  return {
    parts: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1))),
  };
}

// A hand-written address may have a lone percent sign.
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function queryText(query) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return kept.length === 0 ? '' : '?' + new URLSearchParams(kept);
}

export function address(parts, query = {}) {
  return '#/' + parts.map(encodeURIComponent).join('/') + queryText(query);
}

export const current = () => parse(location.hash);

// Changes parameters of the current view; a change of what is listed starts at the first page.
export function change(query, { replace = false } = {}) {
  const now = current();
  const target = address(now.parts, { ...now.query, cursor: undefined, ...query });
  if (!replace) location.hash = target;
  else {
    history.replaceState(null, '', target);
    dispatchEvent(new HashChangeEvent('hashchange'));
  }
}

export function useAddress() {
  const [value, set] = useState(current);
  useEffect(() => {
    const follow = () => set(current());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return value;
}
