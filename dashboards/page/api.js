// Reads of the HTTP API. Addresses are relative, so that the page works behind a proxy with a path of its own.
import { useEffect, useState } from './vendor/preact-htm.js';
import { queryText } from './address.js';

const kTimeoutMs = 30000;

async function read(path, signal) {
  let answer;
  try {
    answer = await fetch('api/v1/' + path, { signal, headers: { Accept: 'application/json' } });
  } catch (error) {
    if (signal.aborted && signal.reason !== 'timeout') throw error;
    return { problem: { title: 'No answer', detail: 'The daemon does not answer. Is it running?', status: 0 } };
  }
  let body = null;
  try {
    body = await answer.json();
  } catch (error) {
    if (signal.aborted && signal.reason !== 'timeout') throw error;
  }
  if (answer.ok && body !== null) return { data: body };
  return {
    problem: {
      title: body?.title ?? `Status ${answer.status}`,
      detail: body?.detail ?? body?.error?.message ?? 'The answer is not JSON. Is this address that of a breakwatch daemon?',
      status: answer.status,
    },
  };
}

export const segment = encodeURIComponent;

// {data, problem, loading}. Keeps the data of the address before until the next arrives. A `path` of null reads nothing.
// `every`: seconds between reads while the page is visible; 0: once. A change of `state` reads again.
export function useRead(path, query = {}, every = 0, state = null) {
  const target = path === null ? null : path + queryText(query);
  const [held, set] = useState({ target: null, data: null, problem: null });
  useEffect(() => {
    if (target === null) return undefined;
    let control = null;
    let timer = null;
    let ended = false;
    const run = async () => {
      control = new AbortController();
      const limit = setTimeout(() => control.abort('timeout'), kTimeoutMs);
      try {
        const got = await read(target, control.signal);
        if (!ended) set((old) => ({ target, data: got.data ?? (old.target === target ? old.data : null), problem: got.problem ?? null }));
      } catch {
        // The view has moved on.
      } finally {
        clearTimeout(limit);
      }
      if (every > 0 && !ended) timer = setTimeout(again, every * 1000);
    };
    const again = () => (document.hidden ? document.addEventListener('visibilitychange', again, { once: true }) : run());
    run();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', again);
      control?.abort();
    };
  }, [target, every, state]);
  if (target === null) return { data: null, problem: null, loading: false };
  return { ...held, loading: held.target !== target };
}
