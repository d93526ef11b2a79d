import { namesOf } from '../../schema/migrate/installation.js';
import { PARTITION_AIM, PARTITION_WARN, partitionPerHour, SAMPLE_ROW_BYTES } from '../../schema/rules.js';
import { groupsFor } from '../../schema/sizes.js';
import { samplesPerMessage } from './traffic.js';

/** @import { Way } from './costs.js' */
/** @import { Installation } from './installation.js' */
/** @import { Limit, limitsOf } from './limits.js' */
/** @import { Fleet } from './traffic.js' */

/**
 * One line of the report: its label, and how many of it, or which text. Numbers are shown next to their ratio.
 *
 * @typedef {[string, (installation: Installation) => number | string, ((number: number) => string)?]} Line
 */

/** @type {Line[]} */
const LINES = [
  ['samples/s', ({ samples }) => samples],
  ['messages/s', ({ messages }) => messages],
  ['received, bytes/s', ({ network }) => network.received, bytesText],
  ['broker connections', ({ broker }) => broker.connections],
  ['broker sessions of ingest', ({ broker }) => broker.sessions],
  ['births and status delivered/s', ({ broker }) => broker.births],
  ['broker cores, as Mosquitto', ({ broker }) => broker.cores],
  ['ingest processes', ({ processes }) => processes],
  ['requests to write/s', ({ requests }) => requests],
  ['rows written/s', ({ rows }) => rows],
  ['  of samples', ({ writes }) => writes.samples.rows],
  ['  of latest', ({ writes }) => writes.latest.rows],
  ['  of last_seen and events', ({ writes }) => writes.lastSeen.rows + writes.events.rows],
  ['  of the indexes', ({ writes }) => writes.indexes.rows],
  ['  of history and statistics', ({ writes }) => writes.history.rows + writes.statistics.rows],
  ['devices read from the registry/s', ({ registryReads }) => registryReads],
  ['written, bytes/s, one copy', ({ network }) => network.written, bytesText],
  ['LATEST_GROUPS', ({ groups }) => groups],
  ['partitions', ({ stored }) => stored.partitions],
  ['time windows', windowsText],
  ['SSTables of these on a shard', ({ sstables }) => sstables],
  ['stored, one copy', ({ stored }) => stored.one, bytesText],
  ['stored, all copies', ({ stored }) => stored.all, bytesText],
  ['vCPUs busy in the database', ({ cpu }) => cpu.database],
  ['nodes by CPU', ({ nodes }) => nodes.byCpu],
  ["  by ScyllaDB's rule, a row an operation", ({ cpu }) => cpu.nodesByRuleOfThumb],
  ['nodes by disk', ({ nodes }) => nodes.byDisk],
  ['nodes', ({ nodes }) => nodes.count],
  ['their vCPUs', ({ vcpus }) => vcpus],
  ['their disks', ({ diskBytes }) => diskBytes, bytesText],
  ['CQL connections of a node', ({ processes }) => processes],
  ['price of the nodes, a month', ({ cost }) => cost.nodes],
  ['price of ingest and broker, a month', ({ cost }) => cost.cores],
];

/**
 * @param {Record<Way, Installation>} both
 * @returns {{ head: string[], rows: string[][] }}
 */
export function installationsTable({ packed, rows }) {
  return {
    head: ['', 'packed', 'one row per sample', 'rows / packed'],
    rows: LINES.map(([label, read, text = countText]) => {
      const [ours, theirs] = [read(packed), read(rows)];
      const shown = [ours, theirs].map((value) => shownAs(value, text));
      return [label, ...shown, ratio(ours, theirs)];
    }),
  };
}

/** @param {number | string} value @param {(number: number) => string} text */
function shownAs(value, text) {
  if (typeof value === 'string') return value;
  return Number.isFinite(value) ? text(value) : 'no number is enough';
}

/** @param {number | string} ours @param {number | string} theirs @returns {string} nothing where they do not differ */
function ratio(ours, theirs) {
  if (typeof ours !== 'number' || typeof theirs !== 'number') return '';
  if (ours === theirs || ours === 0 || !Number.isFinite(theirs / ours)) return '';
  return (theirs / ours)
    .toPrecision(2)
    .replace(/\.?0+$/, '')
    .replace(/e\+?/, 'e');
}

/** @param {Installation} installation @returns {string} `30 x 1 d, 29 x 13 d`, each length once */
function windowsText({ windows }) {
  return [...new Set(Object.values(windows).map(({ count, days }) => `${count} x ${days} d`))].join(', ');
}

/**
 * @param {ReturnType<typeof limitsOf>} packed
 * @param {ReturnType<typeof limitsOf>} rows
 * @returns {{ head: string[], rows: string[][] }} in the order in which packed batches meet them
 */
export function limitsTable(packed, rows) {
  const names = [...new Set([...packed, ...rows].map(({ name }) => name))];
  const first = packed.find(({ kind }) => kind === 'hard')?.name;
  return {
    head: ['limit at this number of sensors; then the way past it', 'packed', 'one row per sample'],
    rows: names.map((name) => {
      const [ours, theirs] = [packed, rows].map((limits) => limits.find((limit) => limit.name === name));
      const { kind, answer } = /** @type {Limit} */ (ours ?? theirs);
      const mark = kind === 'step' ? '' : name === first ? 'the first hard limit: ' : 'a hard limit: ';
      const at = (/** @type {typeof ours} */ limit) => (limit ? countText(limit.at) : '-');
      return [`${mark}${name}; then ${answer}`, at(ours), at(theirs)];
    }),
  };
}

/** @param {Fleet} fleet @returns {string[]} what the largest partitions of measurements hold */
export function partitionLines(fleet) {
  const hour = partitionPerHour({ ...fleet, sensors: fleet.sensorsPerDevice });
  const day = {
    rows: 86_400_000 / fleet.intervalMs,
    bytes: (86_400_000 / fleet.intervalMs) * SAMPLE_ROW_BYTES,
  };
  return [
    `A partition, packed: an hour of a device, ${samplesPerMessage(fleet)} samples a row; ${partitionText(hour)}.`,
    `A partition of rows: a day of a sensor; ${partitionText(day)}.`,
  ];
}

/** @param {{ rows: number, bytes: number }} partition */
function partitionText({ rows, bytes }) {
  const within = (/** @type {{ rows: number, bytes: number }} */ limit) =>
    rows <= limit.rows && bytes <= limit.bytes;
  const verdict = within(PARTITION_AIM)
    ? 'within what we aim at'
    : within(PARTITION_WARN)
      ? 'more than we aim at'
      : 'too large: batch for longer';
  return `${countText(rows)} rows, ${bytesText(bytes)}: ${verdict}`;
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
 * The settings that the first migration stores, as lines of `.env`. Every process needs the same.
 *
 * @param {Fleet} fleet
 * @returns {string[]} `LATEST_GROUPS=128`
 */
export function settingLines({ sensors, batchDays, historyDays }) {
  const stored = namesOf({ latestGroups: groupsFor(sensors), batchDays, historyDays });
  return Object.entries(stored).map(([name, value]) => `${name}=${value}`);
}
