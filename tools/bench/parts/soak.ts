import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { Context, Environment } from '../environment/index.ts';
import type { Latencies } from '../load/open-loop.ts';
import { loadOf } from '../load/shapes.ts';
import { memoryOf } from '../measure/machine.ts';
import { measurePeak } from '../measure/rate.ts';
import { compactions, diskBytes } from '../measure/stored.ts';
import { figure, type Table } from '../report/table.ts';
import type { Part } from './index.ts';

const LOAD = '4x10';

/** Of the highest rate, without --rate. */
const SHARE = 0.5;

/** A period has one row in the report. */
const PERIOD_MS = 600_000;

/** A shorter run has this many periods. */
const MIN_PERIODS = 12;

/** The table shows at most this many periods. The raw file has all. */
const SHOWN = 24;

const POLL_MS = 1000;

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
    status('the highest rate');
    const rate =
      flags.rate ?? SHARE * (await measurePeak(pipeline, shape, { environment, flags: PEAK_FLAGS }));
    const result: Result = { rate, periods: [], failure: null };
    const end = await pipeline.hold(shape, rate);
    try {
      await observe(context, pipeline, result.periods);
      await end();
    } catch (error) {
      // What was measured in days must not be lost.
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
        figure(slope(periods, (period) => period.memory[name] ?? period.disk)),
      ]),
    },
    periodTable(periods),
  ],
};

const PEAK_FLAGS = { rounds: 1, runMs: 4000, warmMs: 2500 };

async function observe(
  { environment, flags, status }: Context,
  pipeline: { pids: Record<string, number>; name: string },
  periods: Period[],
) {
  const { publisher, database } = environment;
  const began = Date.now();
  const periodMs = Math.min(PERIOD_MS, flags.runMs / MIN_PERIODS);
  const pids = { ...pipeline.pids, database: database.pid };
  await publisher.call('takeLatencies');
  for (let until = began + periodMs; until <= began + flags.runMs; until += periodMs) {
    while (Date.now() < until) {
      status(`${figure((Date.now() - began) / 60_000)} of ${figure(flags.runMs / 60_000)} minutes`);
      await sleep(Math.min(POLL_MS, Math.max(1, until - Date.now())));
    }
    const latency = await publisher.call<Latencies>('takeLatencies');
    if (latency.count === 0)
      throw new MillraceError('failed', `Nothing was acknowledged for ${figure(periodMs / 1000)} s.`);
    const memory = await memoryOf(pids);
    periods.push({ at: Date.now() - began, latency, memory, ...(await storageOf(environment)) });
  }
}

const storageOf = async (environment: Environment) => ({
  disk: (await diskBytes(environment)) / 1e6,
  compactions: await compactions(environment),
});

/** Of the line with the least squares. The first tenth is left out, because caches and heaps still fill. @returns per hour */
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
