// A line chart over days, drawn by uPlot, with the same numbers as a table. uPlot is loaded by the first chart.
import { html, useEffect, useRef } from './vendor/preact-htm.js';
import { Table } from './parts.js';

let library = null;

function load() {
  library ??= new Promise((resolve, reject) => {
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    style.href = 'page/vendor/uplot.css';
    const script = document.createElement('script');
    script.src = 'page/vendor/uplot.js';
    script.onload = () => resolve(globalThis.uPlot);
    script.onerror = () => reject(new Error('uPlot cannot be loaded'));
    document.head.append(style, script);
  });
  return library;
}

const kLines = 8;
const kDays = [1, 2, 7, 14, 28, 56, 112, 364].map((days) => days * 86400);
const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dark = matchMedia('(prefers-color-scheme: dark)');

function options(series, width, height, format, range) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { stroke: color('--line') }, font: '12px system-ui' };
  const points = series[0].points.length;
  return {
    width,
    height,
    scales: { x: { time: true }, y: { range } },
    axes: [{ ...axis, space: 80, incrs: kDays, values: (_, ticks) => ticks.map((tick) => shortDay.format(tick * 1000)) }, { ...axis, values: (_, ticks) => ticks.map(format), size: 62 }],
    legend: { show: series.length > 1, live: false },
    cursor: { drag: { x: false, y: false } },
    series: [
      {},
      ...series.map((line, i) => ({ label: line.name, stroke: color(`--series-${i + 1}`), width: 2, spanGaps: true, points: { show: points < 40 }, value: (_, v) => (v === null ? '–' : format(v)) })),
    ],
  };
}

// series: [{name, points: [{day, value}]}], at most eight.
export function Chart({ label, series, format, range = (_, low, high) => [0, high > 0 ? high * 1.05 : 1], height = 220 }) {
  const place = useRef(null);
  const lines = series.slice(0, kLines);
  const days = [...new Set(lines.flatMap((line) => line.points.map((point) => point.day)))].sort();
  const key = JSON.stringify(lines);
  useEffect(() => {
    if (days.length < 2) return undefined;
    let chart = null;
    let ended = false;
    const columns = lines.map((line) => {
      const by = new Map(line.points.map((point) => [point.day, point.value]));
      return days.map((day) => by.get(day) ?? null);
    });
    const draw = async () => {
      const uPlot = await load();
      if (ended || !place.current) return;
      chart?.destroy();
      chart = new uPlot(options(lines, place.current.clientWidth, height, format, range), [days.map((day) => Date.parse(day) / 1000), ...columns], place.current);
    };
    const resize = new ResizeObserver(() => chart && place.current && chart.setSize({ width: place.current.clientWidth, height }));
    draw();
    resize.observe(place.current);
    dark.addEventListener('change', draw);
    return () => {
      ended = true;
      resize.disconnect();
      dark.removeEventListener('change', draw);
      chart?.destroy();
    };
  }, [key]);
  if (days.length < 2) return html`<p class="muted">A trend needs sweeps of two days${days.length === 1 ? `; there is one, ${days[0]}` : ''}.</p>`;
  const columns = [{ title: 'Day', cell: (day) => day },
    ...lines.map((line) => ({ title: line.name, numeric: true, cell: (day) => {
      const point = line.points.find((one) => one.day === day);
      return point === undefined || point.value === null ? '–' : format(point.value);
    } }))];
  return html`<figure class="chart"><div ref=${place} role="img" aria-label=${label} style=${{ minHeight: `${height}px` }}></div>
    <details><summary>Numbers</summary><${Table} label=${label} columns=${columns} rows=${days.slice(-60).reverse()} /></details></figure>`;
}
