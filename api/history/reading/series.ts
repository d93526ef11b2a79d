import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { Bins, type Point, widthFor } from './bins.ts';
import { type Grid, uniformGrid } from './grid.ts';
import {
  chunksOf,
  type Hour,
  LONGEST_MS,
  type LookUp,
  type Range,
  type Sensor,
  storedRange,
} from './hours.ts';
import { readAhead, type SampleSource } from './samples.ts';

/** In ms. Reads of longer ranges bypass the row cache of the server. */
const LONG_MS = 2 * DAY_MS;

/** The width of an answer without bins, in ms. */
const NO_WIDTH = 1000;

export interface Shape {
  points: Point[];
  /** of a bin, in ms */
  width: number;
  /** `statistics` if those of at least one whole hour were used */
  source: 'statistics' | 'samples';
}

/**
 * Uses the statistics of whole hours if they are exact, and samples otherwise.
 * @param range within retention; a shorter range has narrower bins
 * @param options `points`: limit of bins; `newest`: epoch ms of the newest sample, null: there are no samples; `shift`:
 *   ms by which the clock of the bins is ahead of UTC
 * @throws the reason with which `signal` was aborted
 */
export async function readSeries(
  deps: {
    lookUp: LookUp;
    source: SampleSource & { scans: SampleSource };
  },
  sensor: Sensor,
  range: Range,
  {
    points,
    newest,
    shift = 0,
    signal,
  }: { points: number; newest: number | null; shift?: number; signal?: AbortSignal },
): Promise<Shape> {
  if (range.from >= range.to) return { points: [], width: NO_WIDTH, source: 'samples' };
  const width = widthFor(range, points, shift);
  const grid = uniformGrid(range, width, shift);
  const bins = new Bins(range, grid);
  const taken = await readBins(deps, sensor, range, { grid, bins, newest, signal });
  return { points: bins.points(), width, source: taken > 0 ? 'statistics' : 'samples' };
}

/** @returns hours whose statistics were used instead of their samples @throws the reason with which `signal` was aborted */
export async function readBins(
  { lookUp, source }: Parameters<typeof readSeries>[0],
  sensor: Sensor,
  range: Range,
  {
    grid,
    bins,
    newest,
    signal,
  }: { grid: Grid; bins: Bins; newest: number | null; signal?: AbortSignal | undefined },
): Promise<number> {
  const stored = storedRange(range, newest);
  const fromSamples = grid.narrowest < HOUR_MS;
  let taken = 0;

  /** @returns false: the samples of the hour are needed */
  function take({ hour, exact }: Hour): boolean {
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
