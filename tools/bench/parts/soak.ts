import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { Context, Environment } from '../environment/index.ts';
import type { Latencies } from '../load/open-loop.ts';
import { loadOf } from '../load/shapes.ts';
import { memoryOf } from '../measure/machine.ts';
import { measurePeak } from '../measure/rate.ts';
import { storageOf } from '../measure/stored.ts';
import { figure, type Table } from '../report/table.ts';
import type { Part } from './index.ts';

const LOAD = '4x10';

/** Of the highest rate, without --rate. */
const SHARE = 0.5;

/** Length of a period, about. A shorter run has `MIN_PERIODS`. */
const PERIOD_MS = 600_000;

const MIN_PERIODS = 12;

/** The table shows at most this many periods. The raw file has all. */
const SHOWN = 24;

const POLL_MS = 1000;

/** `flags.runMs` is the length of the soak. */
const PEAK = { rounds: 1, runMs: 4000, warmMs: 2500 };

/** At the end of a period. `at`: ms since the start; memory and disk in MB */
export interface Period {
  at: number;
  latency: Latencies;
  memory: Record<string, number>;
  disk: number;
  compactions: { completed: number; pending: number };
}

type Result = { rate: number; periods: Period[]; failure: string | null };

/** A load at a fixed rate for hours or days, with latencies, memory and disk over time. */
export const soak: Part<Result> = {
  name: 'soak',
  title: `Soak: load ${LOAD} at a fixed rate`,
  onRequest: true,

  async run(context) {
    const { environment, flags, status } = context;
    const shape = loadOf(LOAD);
    const pipeline = await environment.observedPipeline();
    if (flags.rate === undefined) status('the highest rate');
    const rate = flags.rate ?? SHARE * (await measurePeak(pipeline, shape, { environment, flags: PEAK }));
    const result: Result = { rate, periods: [], failure: null };
    const end = await pipeline.hold(shape, rate);
    try {
      await observe(context, pipeline, result.periods);
      await end();
    } catch (error) {
      // Days of measurements must not be lost.
      result.failure = error instanceof Error ? error.message : String(error);
    }
    return result;
  },

  tables: ({ rate, periods, failure }) => [
    ...(failure === null ? [] : [{ head: ['The run ended early'], rows: [[failure]] }]),
    {
      head: [`at ${figure(rate / 1000)} thousand samples/s`, 'slope in MB an hour'],
      rows: [...Object.keys(periods[0]?.memory ?? {}), 'disk'].map((name) => [
        name,
        figure(rounded(slope(periods, (period) => period.memory[name] ?? period.disk))),
      ]),
    },
    periodTable(periods),
  ],
};

type ObservedPipeline = Awaited<ReturnType<Environment['observedPipeline']>>;

async function observe(
  { environment, flags, status }: Context,
  { pids, cql: { keyspace } }: ObservedPipeline,
  periods: Period[],
) {
  const { publisher, database } = environment;
  const began = Date.now();
  const count = Math.max(MIN_PERIODS, Math.floor(flags.runMs / PERIOD_MS));
  const periodMs = flags.runMs / count;
  for (let number = 1; number <= count; number++) {
    const end = began + number * periodMs;
    for (let left = end - Date.now(); left > 0; left = end - Date.now()) {
      status(`${figure((Date.now() - began) / 60_000)} of ${figure(flags.runMs / 60_000)} minutes`);
      await sleep(Math.min(POLL_MS, left));
    }
    const latency = await publisher.call<Latencies>('takeLatencies');
    if (latency.count === 0)
      throw new MillraceError('failed', `Nothing was acknowledged for ${figure(periodMs / 1000)} s.`);
    const memory = await memoryOf({ ...pids, database: database.pid });
    const { bytes, compactions } = await storageOf(environment, keyspace);
    periods.push({ at: Date.now() - began, latency, memory, disk: bytes / 1e6, compactions });
  }
}

/** `figure` shows a sum of rounding errors with many digits. */
const rounded = (number: number) => Math.round(number * 100) / 100;

/** Slope of the least-squares line, per hour. It leaves out the first tenth, in which caches and heaps fill. */
export function slope(periods: Period[], figureOf: (period: Period) => number): number {
  const points = periods
    .slice(Math.ceil(periods.length / 10))
    .map((period) => ({ x: period.at / 3_600_000, y: figureOf(period) }));
  const mean = (key: 'x' | 'y') => points.reduce((sum, point) => sum + point[key], 0) / points.length;
  const [x, y] = [mean('x'), mean('y')];
  const covariance = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  return covariance / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
}

function periodTable(periods: Period[]): Table {
  const step = Math.ceil(periods.length / SHOWN);
  const shown = periods.filter((_, index) => (index + 1) % step === 0);
  const keys = ['p50', 'p99', 'p999', 'p9999', 'max'] as const;
  const processes = Object.keys(periods[0]?.memory ?? {});
  return {
    head: [
      'hours',
      ...['p50 ms', 'p99 ms', 'p99.9 ms', 'p99.99 ms', 'max ms'],
      ...processes.map((name) => `${name} MB`),
      ...['disk MB', 'compactions', 'pending'],
    ],
    rows: shown.map(({ at, latency, memory, disk, compactions: { completed, pending } }) => [
      (at / 3_600_000).toFixed(2),
      ...keys.map((key) => figure(Number(latency[key]))),
      ...processes.map((name) => figure(Number(memory[name]))),
      ...[disk, completed, pending].map(figure),
    ]),
  };
}
