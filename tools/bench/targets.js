import { heapGrowth } from './dashboard/watch.js';
import { cpuOfBoth } from './measure/rate.js';
import { median, medianOf } from './measure/rounds.js';
import { sensorsOf } from './parts/packing.js';
import { RATIOS } from './reading/kinds.js';
import { figure } from './report/table.js';

/** @import { SignalKind } from './loader/data-set.js' */
/** @import { Comparison, Rate } from './measure/rate.js' */
/** @import { cost, fleet } from './parts/cost.js' */
/** @import { Result } from './parts/dashboard.js' */
/** @import { latency, overload } from './parts/latency.js' */
/** @import { packing } from './parts/packing.js' */
/** @import { disk } from './parts/reading-disk.js' */
/** @import { reading } from './parts/reading.js' */
/** @import { Reads } from './reading/kinds.js' */
/** @import { throughput } from './parts/throughput.js' */

/**
 * One line of the table of targets.
 *
 * @typedef {object} Target
 * @property {string} figure what is measured
 * @property {keyof Results} part the part of the bench that measures it
 * @property {number} atLeast or
 * @property {number} atMost
 * @property {(results: Required<Results>) => number} read NaN where it was not measured
 */

/**
 * The results of the parts. Those that were not run are missing.
 *
 * @typedef {object} Results
 * @property {Awaited<ReturnType<typeof throughput.run>>} [throughput]
 * @property {Awaited<ReturnType<typeof latency.run>>} [latency]
 * @property {Awaited<ReturnType<typeof overload.run>>} [overload]
 * @property {Awaited<ReturnType<typeof cost.run>>} [cost]
 * @property {Awaited<ReturnType<typeof fleet.run>>} [fleet]
 * @property {Awaited<ReturnType<typeof reading.run>>} [reading]
 * @property {Awaited<ReturnType<typeof disk.run>>} [disk]
 * @property {Awaited<ReturnType<typeof packing.run>>} [packing]
 * @property {Result} [dashboard]
 */

/** Differences below are noise on a machine that others use too. */
const SAME = 1.4;

/** The targets of the bench, in the order of importance. @type {Array<Omit<Target, 'atLeast' | 'atMost'> & ({ atLeast: number } | { atMost: number })>} */
const TARGETS = [
  overRows('1x60', 3.5),
  overRows('1x10', 1.8),
  overRows('4x10', 2.2),
  overRows('50x1', 1.6),
  overRows('1x1', 1),
  {
    figure: 'p99 from publish to commit at 50 %, ms',
    part: 'latency',
    atMost: 8,
    read: ({ latency }) => medianOf(latency.rounds, (results) => results['50 %'].p99),
  },
  {
    figure: 'p99.9 / mean at 200 %, from publish to commit',
    part: 'overload',
    atMost: 4.7,
    read: ({ overload }) =>
      medianOf(
        overload.rounds,
        ({ overload: { latency } }) => latency.published.p999 / latency.published.mean,
      ),
  },
  {
    figure: 'memory of ingest at 200 %, MB',
    part: 'overload',
    atMost: 300,
    read: ({ overload }) =>
      medianOf(overload.rounds, ({ overload: { memory } }) => Math.max(...memory.map(({ mb }) => mb))),
  },
  {
    figure: 'samples missing in the database after 200 %',
    part: 'overload',
    atMost: 0,
    read: ({ overload }) => Math.abs(overload.committed - overload.stored),
  },
  {
    figure: 'CPU of ingest against parsing, digest and encoding alone, 1x60',
    part: 'cost',
    atMost: 2.2,
    read: ({ cost }) =>
      atLoad(cost.loads, '1x60', ({ packed }) => Number(packed.cpu['ingest']) / Number(cost.least['1x60'])),
  },
  {
    figure: 'CPU of ingest and database with latest against without, 1x60',
    part: 'cost',
    atMost: 1.2,
    read: ({ cost }) =>
      atLoad(cost.loads, '1x60', (results) => cpuOfBoth(results.packed) / cpuOfBoth(results['no-latest'])),
  },
  {
    figure: 'CPU of ingest and database with 100,000 sensors against 100',
    part: 'fleet',
    atMost: 1.15,
    read: ({ fleet }) =>
      medianOf(fleet, (results) => cpuOfBoth(results['100,000 sensors']) / cpuOfBoth(results['100 sensors'])),
  },
  inTime('p99 of a page of 100 of latest, with much stored, ms', 21, ({ latest }) => latest.p99),
  side('latestByStored', { atMost: SAME }),
  side('pageByStored', { atMost: SAME }),
  side('monthAgainstExport', { atLeast: 100 }),
  inTime('median of a series of 500 points of a year, ms', 125, ({ year }) => year.p50),
  {
    figure: 'memory of the HTTP process while it exports a month, and a year, MB',
    part: 'reading',
    atMost: 200,
    read: ({ reading: { rounds, longest } }) =>
      Math.max(longest.mb, ...rounds.map(({ results }) => results.monthExport.mb)),
  },
  onDisk('decimals', 'two decimals', 0.1),
  onDisk('full', 'full doubles', 0.5),
  {
    figure: 'sensors at 1 Hz that packing keeps up with, next to half of the highest rate',
    part: 'packing',
    atLeast: 10_000,
    read: ({ packing }) => sensorsOf(packing.loaded),
  },
  {
    figure: 'time until the first cells of the wall are visible, ms',
    part: 'dashboard',
    atMost: 1000,
    read: ({ dashboard }) => median(dashboard.first),
  },
  {
    figure: 'heap of an open wall, the last third of its time against the first',
    part: 'dashboard',
    atMost: 1.1,
    read: ({ dashboard }) => heapGrowth(dashboard.heap),
  },
];

/** @param {string} load @param {number} atLeast */
function overRows(load, atLeast) {
  return {
    figure: `acknowledged samples/s against one row per sample, ${load}`,
    part: /** @type {const} */ ('throughput'),
    atLeast,
    read: (/** @type {Required<Results>} */ { throughput }) =>
      atLoad(throughput, load, ({ packed, rows }) => packed.rate / rows.rate),
  };
}

/**
 * @param {Partial<Results>} results
 * @returns {{ head: string[], rows: string[][] }} of what was measured
 */
export function targetsTable(results) {
  const rows = TARGETS.flatMap((target) => {
    if (results[target.part] === undefined) return [];
    const value = target.read(/** @type {Required<Results>} */ (results));
    if (Number.isNaN(value)) return [];
    const [wanted, holds] =
      'atLeast' in target
        ? [`${target.atLeast} or more`, value >= target.atLeast]
        : [`${target.atMost} or less`, value <= target.atMost];
    return [[target.figure, wanted, figure(value), holds ? 'yes' : 'no']];
  });
  return { head: ['figure', 'target', 'measured', 'holds'], rows };
}

/**
 * @template {string} Name
 * @param {Comparison<Name>[]} loads
 * @param {string} load
 * @param {(results: Record<Name, Rate>) => number} read
 * @returns {number} the median over the rounds; NaN where the load was not run
 */
function atLoad(loads, load, read) {
  const found = loads.find(({ shape }) => shape === load);
  return found ? medianOf(found.rounds, read) : Number.NaN;
}

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
    read: (/** @type {Required<Results>} */ { reading }) => medianOf(reading.rounds, ratio),
  };
}

/** @param {string} label @param {number} atMost ms @param {(reads: Reads) => number} read */
function inTime(label, atMost, read) {
  return {
    figure: label,
    part: /** @type {const} */ ('reading'),
    atMost,
    read: (/** @type {Required<Results>} */ { reading }) => medianOf(reading.rounds, read),
  };
}

/** @param {SignalKind} signal @param {string} label @param {number} atMost */
function onDisk(signal, label, atMost) {
  return {
    figure: `bytes a sample in history, against one row per sample on disk, ${label}`,
    part: /** @type {const} */ ('disk'),
    atMost,
    read: (/** @type {Required<Results>} */ { disk }) =>
      median(disk.filter((one) => one.signal === signal).map(({ history, rows }) => history / rows)),
  };
}
