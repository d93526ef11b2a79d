import { medianOf } from './measure/rounds.js';
import { PARTS } from './parts/index.js';
import { comparison, peerTables } from './peers/report.js';
import { figure, markdownTable } from './report/table.js';
import { targetsTable } from './targets.js';

/** @import { ClassResult } from './peers/report.js' */
/** @import { Results } from './targets.js' */

/** The marks around the generated figures in a document. The peers have marks of their own, because a separate run measures them. */
const MARKS = {
  bench: { begin: '<!-- bench: written by npm run bench:readme -->', end: '<!-- /bench -->' },
  peers: { begin: '<!-- peers: written by npm run bench:readme -->', end: '<!-- /peers -->' },
};

/**
 * Replaces the text between the marks of a section.
 *
 * @param {string} document Markdown
 * @param {string} text Markdown with the new figures
 * @param {keyof typeof MARKS} [section]
 * @returns {string} the document with the new text
 * @throws {RangeError} when the document has no marks of the section
 */
export function insertBetweenMarks(document, text, section = 'bench') {
  const { begin, end } = MARKS[section];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`the lines ${begin} and ${end} are needed`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/**
 * @param {string} document
 * @param {Raw} raw results that include measurements of the peers
 * @returns {string} the document with the tables of the peers
 * @throws {RangeError} when the document has no marks of the peers
 */
export function insertPeers(document, raw) {
  const tables = peerTables(raw.results.peers ?? []);
  const quick =
    '**These figures are of a quick run**: one short round, Telegraf with one known good setting, and a month with a sample each 30 s. Read the ratios as a first look. `npm run bench -- --only peers` measures all of it.';
  const parts = [
    machineOf(raw),
    ...(raw.flags?.quick ? [quick] : []),
    ...tables.map(({ head, rows }) => markdownTable(head, rows)),
  ];
  return insertBetweenMarks(document, parts.join('\n\n'), 'peers');
}

/**
 * @param {string} document
 * @param {Raw} raw results that include measurements of the peers
 * @returns {string} the document with a paragraph that compares the peers
 * @throws {RangeError} when the document has no marks of the peers
 */
export const insertComparison = (document, raw) =>
  insertBetweenMarks(document, `${comparison(raw.results.peers ?? [])} ${machineOf(raw)}`, 'peers');

/** @param {Raw} raw @returns {boolean} whether anything but the peers was measured */
export const hasOthers = ({ results }) => Object.keys(results).some((name) => name !== 'peers');

/** @param {Raw} raw @returns {string} Markdown: a list of the figures that were measured, and the machine */
export function headline(raw) {
  const { throughput, disk, reading } = raw.results;
  const packed = throughput?.find(({ shape }) => shape === '1x60')?.rounds;
  const decimals = disk?.find(({ signal }) => signal === 'decimals');
  const lines = [
    packed &&
      `**${figure(medianOf(packed, ({ packed: { rate } }) => rate / 1000))} thousand samples/s** acknowledged with 60 samples a message, ${figure(medianOf(packed, ({ packed: { rate }, rows }) => rate / rows.rate))} times as many as with one row per sample`,
    decimals && `**${figure(decimals.history)} bytes a sample** in history on disk`,
    reading &&
      `a year of a sensor in **${figure(medianOf(reading.rounds, (results) => results.year.p50))} ms** (median), while samples arrive`,
  ];
  return [
    lines
      .filter(Boolean)
      .map((line) => `- ${line}`)
      .join('\n'),
    machineOf(raw),
  ].join('\n\n');
}

/** @param {Raw} raw @returns {string} Markdown: the machine, the table of targets, and all other tables */
export function everything(raw) {
  const parts = PARTS.filter(({ name, onRequest }) => !onRequest && raw.results[name] !== undefined);
  const targets = targetsTable(raw.results);
  return [
    machineOf(raw),
    ...(targets.rows.length > 0 ? ['## Targets', markdownTable(targets.head, targets.rows)] : []),
    ...parts.flatMap((part) => [
      `## ${part.title}`,
      ...part.tables(raw.results[part.name]).map(({ head, rows }) => markdownTable(head, rows)),
    ]),
  ].join('\n\n');
}

/** @param {Raw} raw */
const machineOf = ({ began, commit, machine }) =>
  `Measured on ${began.replaceAll(/T[^,]*/g, '').replaceAll(',', ' and ')}, ${commitText(commit)}, on ${machine.processors} cores (${machine.model.trim()}, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}), which publisher, broker, ingest and database share.`;

/**
 * @param {string | null | undefined} commit as in a raw file
 * @returns {string} such as `at commit 1a2b3c4d5e6f`, `before commit 1a2b3c4`
 */
export function commitText(commit) {
  if (!commit) return 'at an unknown commit';
  const [, before, name] = /** @type {RegExpExecArray} */ (/^(before )?(.*)$/s.exec(commit));
  return `${before ? 'before' : 'at'} commit ${name?.replaceAll(',', ' and ')}`;
}

/**
 * A raw file of the bench.
 *
 * @typedef {object} Raw
 * @property {string} began start of the run in ISO 8601; for several runs: the days, separated by commas
 * @property {string | null} [commit] commit of the measured code, or `before COMMIT`; for several runs: the commits, separated by
 *   commas; missing: the commit was not recorded
 * @property {{ processors: number, model: string, memoryGiB: number, system: string, node: string }} machine
 * @property {{ quick?: boolean }} [flags] flags of the run
 * @property {Results & { peers?: ClassResult[] } & Record<string, unknown>} results
 */
