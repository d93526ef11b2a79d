import { medianOf } from './measure/rounds.js';
import { PARTS } from './parts/index.js';
import { comparison, peerTables } from './peers/report.js';
import { figure, markdownTable } from './report/table.js';
import { targetsTable } from './targets.js';

/** @import { ClassResult } from './peers/report.js' */
/** @import { Results } from './targets.js' */

/** The lines of a document around the figures. The peers have lines of their own, because a run of their own measures them. */
const MARKS = {
  bench: { begin: '<!-- bench: written by npm run bench:readme -->', end: '<!-- /bench -->' },
  peers: { begin: '<!-- peers: written by npm run bench:readme -->', end: '<!-- /peers -->' },
};

/**
 * Replaces the figures of a document.
 *
 * @param {string} document
 * @param {string} text
 * @param {keyof typeof MARKS} [section]
 * @returns {string} the document with the text between the marks
 * @throws {RangeError} when the marks are not there
 */
export function insertBetweenMarks(document, text, section = 'bench') {
  const { begin, end } = MARKS[section];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`the lines ${begin} and ${end} are needed`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/**
 * @param {string} document
 * @param {Raw} raw with the peers
 * @returns {string} the document with their tables
 * @throws {RangeError} when the marks are not there
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
 * @param {Raw} raw with the peers
 * @returns {string} the document with the comparison in one paragraph
 * @throws {RangeError} when the marks are not there
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

/** @param {string | null | undefined} commit as in a raw file @returns {string} `at commit 1a2b3c4d5e6f`, `before commit 1a2b3c4` */
export function commitText(commit) {
  if (!commit) return 'at an unknown commit';
  const [, before, name] = /** @type {RegExpExecArray} */ (/^(before )?(.*)$/s.exec(commit));
  return `${before ? 'before' : 'at'} commit ${name?.replaceAll(',', ' and ')}`;
}

/**
 * A raw file of the bench.
 *
 * @typedef {object} Raw
 * @property {string} began ISO 8601; of several runs the days, with commas between
 * @property {string | null} [commit] whose code was measured, or `before COMMIT`; of several runs with commas between; missing: nobody noted it
 * @property {{ processors: number, model: string, memoryGiB: number, system: string, node: string }} machine
 * @property {{ quick?: boolean }} [flags] that it was run with
 * @property {Results & { peers?: ClassResult[] } & Record<string, unknown>} results
 */
