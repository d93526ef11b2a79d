import { namesOf } from '../../schema/migrate/installation.js';
import { PARTITION_AIM, PARTITION_WARN, partitionPerHour } from '../../schema/rules.js';
import { groupsFor } from '../../schema/sizes.js';
import { betweenMarks, markdownTable } from '../bench/report/table.js';
import { costOf, errorsOf } from './costs.js';
import { installationOf } from './formula.js';
import { limitsOf } from './limits.js';
import { RULES } from './rules.js';
import { compressionOf } from './storage.js';
import { samplesPerMessage } from './traffic.js';

/** @import { Figures } from '../bench/documents.js' */
/** @import { Installation, Parts } from './formula.js' */
/** @import { Fleet } from './traffic.js' */

/** @typedef {{ head: string[], rows: string[][] }} Table */

/** A line of the table: its label, its number or text, and the format of the number. @typedef {[string, (installation: Installation) => number | string, ((number: number) => string)?]} Line */

/** @type {Line[]} */
const LINES = [
  ['samples/s', ({ samples }) => samples],
  ['messages/s', ({ messages }) => messages],
  ['received, bytes/s', ({ network }) => network.received, bytesText],
  ['broker connections', ({ broker }) => broker.connections],
  ['births and status delivered/s', ({ broker }) => broker.births],
  ['broker cores, as Mosquitto', ({ broker }) => broker.cores],
  ['ingest processes', ({ processes }) => processes],
  ['requests to write/s', ({ requests }) => requests],
  ['rows written/s', ({ rows }) => rows],
  ['  of samples', ({ writes }) => writes.samples.rows],
  ['  of latest', ({ writes }) => writes.latest.rows],
  ['  of last_seen and events', ({ writes }) => writes.lastSeen.rows + writes.events.rows],
  ['  of history and statistics', ({ writes }) => writes.history.rows + writes.statistics.rows],
  ['devices read from the registry/s', ({ registryReads }) => registryReads],
  ['written, bytes/s, one copy', ({ network }) => network.written, bytesText],
  ['LATEST_GROUPS', ({ groups }) => groups],
  ['partitions', ({ stored }) => stored.partitions],
  ['time windows', windowsText],
  ['SSTables of these on a shard', ({ sstables }) => sstables],
  ['stored, one copy', ({ stored }) => stored.one, bytesText],
  ['stored, all copies', ({ stored }) => stored.all, bytesText],
  ['vCPUs busy in the database', ({ busy }) => busy],
  ['nodes by CPU', ({ nodes }) => nodes.byCpu],
  ['nodes by disk', ({ nodes }) => nodes.byDisk],
  ['nodes', ({ nodes }) => nodes.count],
  ['their vCPUs', ({ vcpus }) => vcpus],
  ['their disks', ({ diskBytes }) => diskBytes, bytesText],
];

/** @param {Installation} installation @returns {Table} */
export const installationTable = (installation) => ({
  head: ['', 'needed'],
  rows: LINES.map(([label, read, text = countText]) => {
    const value = read(installation);
    if (typeof value === 'string') return [label, value];
    return [label, Number.isFinite(value) ? text(value) : 'no number is enough'];
  }),
});

/** @param {Installation} installation @returns {string} `30 x 1 d, 29 x 13 d`, each length once */
function windowsText({ windows }) {
  return [...new Set(Object.values(windows).map(({ count, days }) => `${count} x ${days} d`))].join(', ');
}

/** @param {ReturnType<typeof limitsOf>} limits @returns {Table} */
export function limitsTable(limits) {
  const first = limits.find(({ kind }) => kind === 'hard')?.name;
  const mark = {
    step: () => '',
    hard: (/** @type {string} */ name) => (name === first ? 'the first hard limit: ' : 'a hard limit: '),
  };
  return {
    head: ['limit; then the way past it', 'sensors'],
    rows: limits.map(({ name, kind, answer, at }) => [
      `${mark[kind](name)}${name}; then ${answer}`,
      countText(at),
    ]),
  };
}

/** @param {Fleet} fleet @returns {string} the size of the largest partition of messages, and its judgment */
export function partitionText(fleet) {
  const { rows, bytes } = partitionPerHour({ ...fleet, sensors: fleet.sensorsPerDevice });
  const within = (/** @type {{ rows: number, bytes: number }} */ limit) =>
    rows <= limit.rows && bytes <= limit.bytes;
  const verdict = within(PARTITION_AIM)
    ? 'within the target'
    : within(PARTITION_WARN)
      ? 'above the target'
      : 'too large: batch for longer';
  return `A partition is an hour of a device with ${samplesPerMessage(fleet)} samples a row; ${countText(rows)} rows, ${bytesText(bytes)}: ${verdict}.`;
}

/** @param {Fleet} fleet @returns {string[]} the settings that the first migration stores, as lines of `.env`: `LATEST_GROUPS=128` */
export function settingLines({ sensors, batchDays, historyDays }) {
  const stored = namesOf({ latestGroups: groupsFor(sensors), batchDays, historyDays });
  return Object.entries(stored).map(([name, value]) => `${name}=${value}`);
}

const STEPS = [
  { from: 1e18, prefix: 'E' },
  { from: 1e15, prefix: 'P' },
  { from: 1e12, prefix: 'T' },
  { from: 1e9, prefix: 'G' },
  { from: 1e6, prefix: 'M' },
  { from: 1e3, prefix: 'k' },
];

/** @param {number} bytes @returns {string} `48 kB`, `1.7 TB` */
export function bytesText(bytes) {
  const { from, prefix } = STEPS.find((step) => bytes >= step.from) ?? { from: 1, prefix: '' };
  return `${short(bytes / from)} ${prefix}B`;
}

/** @param {number} count @returns {string} `960`, `17 thousand`, `2.6 billion` */
export function countText(count) {
  const words = /** @type {const} */ ([
    [1e12, ' trillion'],
    [1e9, ' billion'],
    [1e6, ' million'],
    [1e4, ' thousand'],
  ]);
  const [from, word] = words.find(([least]) => count >= least) ?? [1, ''];
  return `${short(count / (from === 1e4 ? 1e3 : from))}${word}`;
}

/** @param {number} number @returns {string} of two digits, or whole */
const short = (number) =>
  number >= 1000
    ? Math.round(number).toLocaleString('en')
    : String(Number(number.toPrecision(number < 100 ? 2 : 3)));

/**
 * @param {{ fleet: Fleet, parts: Parts }} plan
 * @param {Figures} figures
 * @returns {Record<string, string>} Markdown of each part of docs/explanation/sizing.md, by the name of its marks
 */
export function partsOfPage({ fleet, parts }, figures) {
  const table = (/** @type {Table} */ { head, rows }) => markdownTable(head, rows);
  return {
    example: table(installationTable(installationOf(fleet, parts, figures))),
    settings: `\`\`\`sh\n${settingLines(fleet).join('\n')}\n\`\`\``,
    limits: table(limitsTable(limitsOf(fleet, parts, figures))),
    costs: costsTable(figures),
    compression: compressionTable(figures),
    rules: rulesTable(),
  };
}

/**
 * @param {string} page
 * @param {Record<string, string>} parts by name
 * @returns {string} the page with each part between its marks
 * @throws {RangeError} a mark is missing
 */
export const fillMarks = (page, parts) =>
  Object.entries(parts).reduce(
    (filled, [name, text]) =>
      betweenMarks(filled, { begin: `<!-- size: ${name} -->`, end: `<!-- /size: ${name} -->` }, text),
    page,
  );

/** @param {Figures} figures */
function costsTable({ throughput }) {
  const shapes = Object.keys(throughput);
  return markdownTable(
    ['CPU µs', 'a message', 'a sensor in it', 'a sample', ...shapes.map((shape) => `error at ${shape}`)],
    /** @type {const} */ (['ingest', 'database', 'broker']).map((process) => {
      const { message, series, sample } = costOf(throughput, process);
      const errors = errorsOf(throughput, process);
      return [
        process,
        ...[message, series, sample].map((number) => number.toPrecision(3)),
        ...shapes.map((shape) => `${Math.round(Number(errors[shape]) * 100) + 0} %`),
      ];
    }),
  );
}

/** @param {Figures} figures */
const compressionTable = ({ disk }) =>
  markdownTable(
    ['on disk / calculated', 'batches', 'history', 'statistics'],
    /** @type {const} */ (['decimals', 'full']).map((signal) => {
      const { batches, history, statistics } = compressionOf(disk, signal);
      return [signal, ...[batches, history, statistics].map((share) => share.toPrecision(2))];
    }),
  );

const rulesTable = () =>
  markdownTable(
    ['rule', 'value', 'source'],
    Object.values(RULES).map(({ value, unit, label, source }) => [
      label,
      unit === 'bytes' ? bytesText(value) : `${countText(value)} ${unit}`,
      source,
    ]),
  );
