// What Grafana itself does with a dashboard, as far as its libraries have it: parse queries, know units, run the
// transformations of tables, expand links. Reads a JSON object from standard input, writes one to standard output.
import {
  applyFieldOverrides, booleanOverrideProcessor, createTheme, dataLinksOverrideProcessor, FieldType,
  formattedValueToString, getValueFormats, locationUtil, Registry, standardTransformers, standardTransformersRegistry,
  toDataFrame, transformDataFrame, unitOverrideProcessor,
} from '@grafana/data';
import { parser as logql } from '@grafana/lezer-logql';
import { parser as promql } from '@prometheus-io/lezer-promql';
import { firstValueFrom } from 'rxjs';
import { VARIABLE_REGEX } from './node_modules/@grafana/scenes/dist/esm/variables/constants.js';
import { formatRegistry } from './node_modules/@grafana/scenes/dist/esm/variables/interpolation/formatRegistry.js';
import { DataMacro, ValueMacro } from './node_modules/@grafana/scenes/dist/esm/variables/macros/dataMacros.js';

// What the libraries ask of a browser.
globalThis.navigator ??= { language: 'en', languages: ['en'] };
globalThis.window ??= { __grafanaSceneContext: {} };
const TIME_IN_URL = 'from=now-30d&to=now';

function syntaxError({ language, text }) {
  let at = null;
  ({ promql, logql })[language].parse(text).iterate({ enter: (node) => { if (node.type.isError) at ??= node.from; } });
  return at;
}

// --- variables, as sceneInterpolator of @grafana/scenes replaces them; that file needs the whole of Grafana

class Variable {
  constructor(name, value) {
    this.state = { name, value };
    this.urlSync = { getUrlState: () => ({ [`var-${name}`]: value }) };
  }
  getValue() {
    return this.state.value;
  }
}

function replacer(variables) {
  return (text, scopedVars = {}, format) => text.replace(VARIABLE_REGEX, (match, a, b, format2, c, path, format3) => {
    const name = a || b || c;
    if (name === '__url_time_range') return TIME_IN_URL;
    const macro = { __value: ValueMacro, __data: DataMacro }[name];
    if (!macro && !(name in variables)) return match;
    const found = macro ? new macro(name, null, match, scopedVars) : new Variable(name, variables[name]);
    let value = found.getValue(path?.replace(/^\./, ''));
    if (value === null || value === undefined) return '';
    if (!Array.isArray(value) && typeof value === 'object') value = `${value}`;
    return formatRegistry.get(format2 || format3 || format || 'glob').formatter(value, [], found, path);
  });
}

// --- tables

// The data frame of an instant query in the format `table`: Grafana numbers the value column if there are several queries,
// and takes the labels of each series by name, so that one that the first series lacks comes later.
function frameOf(refId, rows, numbered) {
  const labels = [...new Set(rows.flatMap((row) => Object.keys(row.metric).sort()))].filter((name) => name !== '__name__');
  return toDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: rows.map((row) => row.value[0] * 1000) },
      ...labels.map((name) => ({ name, type: FieldType.string, values: rows.map((row) => row.metric[name] ?? '') })),
      { name: numbered ? `Value #${refId}` : 'Value', type: FieldType.number, values: rows.map((row) => Number(row.value[1])) },
    ],
  });
}

const fieldConfigs = new Registry(() => [
  { id: 'unit', path: 'unit', name: 'Unit', process: unitOverrideProcessor, shouldApply: () => true },
  { id: 'links', path: 'links', name: 'Links', process: dataLinksOverrideProcessor, shouldApply: () => true },
  { id: 'custom.hidden', path: 'hidden', isCustom: true, name: 'Hidden', process: booleanOverrideProcessor, shouldApply: () => true },
]);

async function tableOf({ panel, results, variables }) {
  const replaceVariables = replacer(variables);
  const refs = Object.keys(results);
  const numbered = refs.length > 1 || panel.targets[0].datasource.type === 'loki';
  const frames = refs.filter((ref) => results[ref].length).map((ref) => frameOf(ref, results[ref], numbered));
  const context = { interpolate: replaceVariables };
  const data = await firstValueFrom(transformDataFrame(panel.transformations, frames, context));
  const [frame] = applyFieldOverrides({
    data, fieldConfig: panel.fieldConfig, fieldConfigRegistry: fieldConfigs, replaceVariables, theme: createTheme(),
  });
  const fields = frame.fields.filter((field) => !field.config.custom?.hidden);
  const rows = Array.from({ length: frame.length }, (_, index) => fields.map((field) => ({
    value: field.values[index] ?? null,
    text: formattedValueToString(field.display(field.values[index])),
    links: (field.getLinks?.({ valueRowIndex: index }) ?? []).map((link) => link.href),
  })));
  return { frames: data.length, columns: fields.map((field) => field.config.displayName ?? field.name), rows };
}

// --- all of it

locationUtil.initialize({ config: { appSubUrl: '' }, getVariablesUrlParams: () => ({}), getTimeRangeForUrl: () => ({}) });
const transformers = new Map(Object.values(standardTransformers).map((one) => [one.id, one]));
standardTransformersRegistry.setInit(() => [...transformers].map(([id, one]) => (
  { id, name: one.name, transformation: async () => one })));

async function main() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const input = JSON.parse(Buffer.concat(chunks).toString());
  const known = new Set(getValueFormats().flatMap((group) => group.submenu.map((one) => one.value)));
  const tables = [];
  for (const one of input.tables ?? []) tables.push(await tableOf(one));
  const answer = {
    syntaxErrors: (input.queries ?? []).map(syntaxError),
    unknownUnits: (input.units ?? []).filter((unit) => !known.has(unit)),
    tables,
  };
  process.stdout.write(JSON.stringify(answer));
}

main();
