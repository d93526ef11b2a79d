import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CONTRACTS, SETTINGS_GROUPS } from '../../api/features/index.ts';
import { openApiDocument } from '../../api/http/contract/openapi.ts';
import { ERRORS } from '../../common/errors.ts';
import { settingsTables } from '../../common/settings/documents.ts';
import { constantsTable, markdownTable, partitionsTable, tablesTable } from './size-tables.ts';

/** @import { ErrorEntry } from '../../common/errors.ts' */
/** @typedef {{ summary: string, parameters?: Array<{ in: string, name: string }> }} Operation */

const ROOT = new URL('../../', import.meta.url);
const MIGRATIONS = new URL('schema/migrations/', ROOT);

/** Parts of pages that the manual takes from the code, by the name that `<!--@include: -->` has. @type {Record<string, () => string>} */
export const GENERATED = {
  settings: () => settingsTables(SETTINGS_GROUPS),
  tables: migrations,
  refusals: () => errors('refusal'),
  problems: () => errors('problem'),
  stops: () => errors('stop'),
  metrics,
  routes,
  bench: () => figures('bench'),
  peers: () => figures('peers'),
  'table-sizes': () => `${tablesTable()}\n`,
  'partition-sizes': () => `${partitionsTable()}\n`,
  'sizing-constants': () => `${constantsTable()}\n`,
};

/** Writes the parts to where the pages include them. */
export function writeGenerated() {
  const folder = fileURLToPath(new URL('.data/manual/', ROOT));
  mkdirSync(folder, { recursive: true });
  for (const [name, contentOf] of Object.entries(GENERATED))
    writeFileSync(`${folder}${name}.md`, contentOf());
}

/** @returns {string} all migrations in their order */
function migrations() {
  return readdirSync(MIGRATIONS)
    .sort()
    .map((name) => {
      const title = name.replace(/^0*(\d+)-(.*)\.cql$/, (_, number, subject) => `${number}. ${subject}`);
      const statements = readFileSync(new URL(name, MIGRATIONS), 'utf8').trim();
      return `## ${title.replaceAll('-', ' ')}\n\n\`\`\`sql\n${statements}\n\`\`\`\n`;
    })
    .join('\n');
}

/** @param {ErrorEntry['kind']} kind @returns {string} */
function errors(kind) {
  /** @type {Array<[code: string, ErrorEntry]>} */
  const all = Object.entries(ERRORS);
  const rows = all
    .filter(([, entry]) => entry.kind === kind)
    .map(([code, { status, exit, title }]) => `| \`${code}\` | ${status ?? exit} | ${title} |\n`);
  return `| code | ${kind === 'stop' ? 'exit code' : 'status'} | title |\n| --- | --- | --- |\n${rows.join('')}`;
}

const TEXT = `'([^']*)'|"([^"]*)"`;
const METRIC = new RegExp(
  `\\b(\\w+)\\(\\s*'(iot_\\w+)',\\s*(?:${TEXT}|help)((?:,\\s*(?:'\\w+'|[A-Z_]+|\\[[^\\]]*\\]))*)`,
  'g',
);
const HELP = new RegExp(`const help =\\s*(?:${TEXT})`);

/** The label of functions that declare metrics with one fixed label. @type {Record<string, string[]>} */
const FIXED_LABELS = { resultCounter: ['result'], states: ['state'] };

/** Reads the declarations in the sources: a process exposes only the metrics of its role and settings. @returns {string} a table for each beginning of their names */
function metrics() {
  const api = fileURLToPath(new URL('api/', ROOT));
  const rows = readdirSync(api, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const source = readFileSync(api + name, 'utf8');
      return [...source.matchAll(METRIC)].map(([, declared = '', metric, single, double, rest = '']) => {
        const [, shared, sharedDouble] = HELP.exec(source) ?? [];
        const labels = FIXED_LABELS[declared] ?? [...rest.matchAll(/'(\w+)'/g)].map(([, label]) => label);
        const type = /counter|histogram/i.exec(declared)?.[0].toLowerCase() ?? 'gauge';
        const label = labels.length > 0 ? ` \`{${labels.join(', ')}}\`` : '';
        return `| \`${metric}\`${label} | ${type} | ${single ?? double ?? shared ?? sharedDouble} |\n`;
      });
    });
  const groupOf = (/** @type {string} */ row) => /iot_[a-z]+/.exec(row)?.[0] ?? '';
  const tableOf = (/** @type {string} */ name) => rows.filter((row) => groupOf(row) === name).join('');
  return [...new Set(rows.sort().map(groupOf))]
    .map((name) => `## ${name}\n\n| name | type | meaning |\n| --- | --- | --- |\n${tableOf(name)}`)
    .join('\n');
}

/** @returns {string} those of the OpenAPI document */
function routes() {
  const { paths } = openApiDocument(CONTRACTS, { version: '', guarded: false });
  const rows = ['| route | answer | parameters |', '| --- | --- | --- |'];
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      if (method === 'parameters') continue;
      const { summary, parameters = [] } = /** @type {Operation} */ (operation);
      const names = parameters.filter((one) => one.in === 'query').map(({ name }) => `\`${name}\``);
      rows.push(`| \`${method.toUpperCase()} ${path}\` | ${summary} | ${names.join(', ')} |`);
    }
  return `${rows.join('\n')}\n`;
}

/** @param {'bench' | 'peers'} section @returns {string} the tables that `npm run bench:readme` has written */
function figures(section) {
  const { measured, sections } = JSON.parse(
    readFileSync(new URL('docs/explanation/benchmarks.json', ROOT), 'utf8'),
  )[section];
  const parts = sections.flatMap(
    (/** @type {{ title: string | null, tables: Array<{ head: string[], rows: string[][] }> }} */ part) => [
      ...(part.title ? [`## ${part.title}`] : []),
      ...part.tables.map(({ head, rows }) => markdownTable(head, rows)),
    ],
  );
  return `${[measured, ...parts].join('\n\n')}\n`;
}
