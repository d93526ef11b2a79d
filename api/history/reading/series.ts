import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';
import { Bins, widthFor } from './bins.js';
import { uniformGrid } from './grid.js';
import { chunksOf, LONGEST_MS } from './hours.js';
import { readAhead } from './samples.js';

/** @import { Grid } from './grid.js' */
/** @import { Hour, LookUp, Range, Sensor } from './hours.js' */
/** @import { SampleSource } from './samples.js' */
/** @import { Point } from './bins.js' */

/** Length of a range, in ms, above which reads of samples bypass the row cache of the server. */
const LONG_MS = 2 * DAY_MS;

/** The width that an answer without bins reports, in ms. */
const NO_WIDTH = 1000;

/**
 * The shape of a signal: minimum, maximum and average in each bin.
 *
 * @typedef {object} Shape
 * @property {Point[]} points
 * @property {number} width of a bin, in ms
 * @property {'statistics' | 'samples'} source `statistics`: the statistics of whole hours were used
 */

/**
 * Reads the shape of a signal. It uses the statistics of whole hours if they are exact, and samples
 * otherwise.
 *
 * @param {object} deps
 * @param {LookUp} deps.lookUp
 * @param {SampleSource & { scans: SampleSource }} deps.source
 * @param {Sensor} sensor
 * @param {Range} range within retention; a shorter range has narrower bins
 * @param {{ points: number, newest: number | null, shift?: number, signal?: AbortSignal }} options
 *   `points`: limit of bins; `newest`: epoch ms of the newest sample, null: there are no samples; `shift`: ms by which
 *   the clock of the bins is ahead of UTC
 * @returns {Promise<Shape>}
 * @throws the reason with which `signal` was aborted
 */
export async function readSeries(deps, sensor, range, { points, newest, shift = 0, signal }) {
  if (range.from >= range.to) return { points: [], width: NO_WIDTH, source: 'samples' };
  const width = widthFor(range, points, shift);
  const grid = uniformGrid(range, width, shift);
  const bins = new Bins(range, grid);
  const taken = await readBins(deps, sensor, range, { grid, bins, newest, signal });
  return { points: bins.points(), width, source: taken > 0 ? 'statistics' : 'samples' };
}

/**
 * Adds all samples of a sensor in a range to bins.
 *
 * @param {Parameters<typeof readSeries>[0]} deps
 * @param {Sensor} sensor
 * @param {Range} range not empty
 * @param {{ grid: Grid, bins: Bins, newest: number | null, signal?: AbortSignal | undefined }} options see `readSeries`
 * @returns {Promise<number>} number of hours whose statistics were used instead of their samples
 * @throws the reason with which `signal` was aborted
 */
export async function readBins({ lookUp, source }, sensor, range, { grid, bins, newest, signal }) {
  const end = newest === null ? range.from : Math.min(range.to, newest + 1);
  const stored = { from: range.from, to: end };
  const fromSamples = grid.narrowest < HOUR_MS;
  let taken = 0;

  /** Adds the statistics of an hour if they can replace its samples. @param {Hour} hour @returns {boolean} false: the samples are needed */
  function take({ hour, exact }) {
    const isInRange = hour >= range.from && hour + HOUR_MS <= range.to;
    // The sum of an hour may overflow while the sum of the whole bin is finite. Then the samples are needed.
    if (fromSamples || !isInRange || !exact || !Number.isFinite(exact.sum)) return false;
    if (!bins.addHour(hour, exact)) return false;
    taken++;
    return true;
  }

  async function* others() {
    for await (const hours of chunksOf(lookUp, sensor, stored, 'asc', LONGEST_MS)) {
      signal?.throwIfAborted();
      yield hours.filter((hour) => !take(hour));
    }
  }

  const isLong = fromSamples && stored.to - stored.from > LONG_MS;
  const samples = isLong ? source.scans : source;
  for await (const series of readAhead(samples, sensor, others(), signal, range.from)) {
    bins.addSamples(series);
  }
  return taken;
}
