import { median, medianOf } from './measure/rounds.js';
import { COALESCED_MS } from './parts/live.js';
import { sensorsOf } from './parts/packing.js';
import { RATIOS } from './reading/readings.js';

/** @import { SignalKind } from './loader/samples.js' */
/** @import { Results as TargetsResults } from './targets.js' */

/** @typedef {Required<TargetsResults>} Results */

/** Differences below are noise on a machine that others use too. */
const SAME = 1.4;

/** The targets of reading. */
export const READING_TARGETS = [
  side('latestAgainstRows', { atMost: 3 }),
  side('latestByStored', { atMost: SAME }),
  side('pageByStored', { atMost: SAME }),
  side('monthAgainstExport', { atLeast: 100 }),
  side('yearAgainstStatistics', { atMost: 1.5 }),
  side('dayAgainstRows', { atLeast: 10 }),
  {
    figure: 'memory of the HTTP process while it exports a month, and a year, MB',
    part: /** @type {const} */ ('reading'),
    atMost: 200,
    read: (/** @type {Results} */ { reading: { rounds, longest } }) =>
      Math.max(longest.mb, ...rounds.map(({ results }) => results.monthExport.mb)),
  },
  onDisk('decimals', 'two decimals', 0.1),
  onDisk('full', 'full doubles', 0.5),
  {
    figure: 'sensors at 1 Hz that packing keeps up with, next to half of the highest rate',
    part: /** @type {const} */ ('packing'),
    atLeast: 10_000,
    read: (/** @type {Results} */ { packing }) => sensorsOf(packing.loaded),
  },
  {
    figure: `p99 until a reader of the live stream has a sample, against the p99 until its commit plus ${COALESCED_MS} ms`,
    part: /** @type {const} */ ('live'),
    atMost: 1,
    read: (/** @type {Results} */ { live }) =>
      medianOf(live.rounds, ({ live: { seen, committed } }) => seen.p99 / (COALESCED_MS + committed.p99)),
  },
];

/**
 * @template {{ atMost: number } | { atLeast: number }} L
 * @param {keyof typeof RATIOS} name
 * @param {L} limit
 */
function side(name, limit) {
  const { label, ratio } = RATIOS[name];
  return {
    figure: label,
    part: /** @type {const} */ ('reading'),
    ...limit,
    read: (/** @type {Results} */ { reading }) => medianOf(reading.rounds, ratio),
  };
}

/** @param {SignalKind} signal @param {string} label @param {number} atMost */
function onDisk(signal, label, atMost) {
  return {
    figure: `bytes a sample in history, against one row per sample on disk, ${label}`,
    part: /** @type {const} */ ('disk'),
    atMost,
    read: (/** @type {Results} */ { disk }) =>
      median(disk.filter((one) => one.signal === signal).map(({ history, rows }) => history / rows)),
  };
}
