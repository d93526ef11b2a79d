import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, DAY_MS, dayOf, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import { loadOf } from '../load/shapes.ts';
import { build } from '../loader/build.ts';
import { withPeakMemory, withShares } from '../measure/machine.ts';
import { measurePeak } from '../measure/rate.ts';
import { createHttpReader, type Read, readRepeatedly } from '../measure/reads.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

/** The simulator's collar, at this share of its highest rate. */
const LOAD = '4x10';
const SHARE = 0.5;

/** Stored before reading is measured. */
interface Sizes {
  /** of one sensor with `monthMs` between two samples */
  days: number;
  monthMs: number;
  /** of another sensor with `yearMs` between two samples: statistics of an hour take as long to read with few samples as with many */
  longDays: number;
  yearMs: number;
  /** publish during the reads, with four sensors each */
  devices: number;
}

const SIZES: Sizes = { days: 30, monthMs: 1000, longDays: 365, yearMs: 10_000, devices: 1000 };

/** Time left out at the old end of the retention. Otherwise data could expire before the last round has read it. */
const SPARE_MS = 4 * HOUR_MS;

/** The dashboard requests these numbers. */
const POINTS = 500;
const PAGE = 100;

const LABELS = {
  latest: 'page of latest',
  page: 'page of samples',
  month: 'series of a month',
  monthExport: 'export of a month',
  year: 'series of a year, a sample each 10 s',
};

type Name = keyof typeof LABELS;

const NAMES = Object.keys(LABELS) as Name[];

/** `mb`: maximum memory of the HTTP process, in MB */
type Measured = Read & { mb: number; steal: number; others: number };

/** `peak`: samples/s; `loaded`: samples */
type Result = { peak: number; loaded: number; rounds: Round<Name, Measured>[] };

/** Measures reads over HTTP, while devices publish at half of the highest rate. */
export const createReadingPart = (sizes: Sizes): Part<Result> => ({
  name: 'reading',
  title: `Reading, while devices measure at half of the highest rate, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const config = await environment.prepare('reading');
    const to = bucketOf(Date.now()) - PACK_DELAY_MS;
    const month = { seed: 1, from: dayOf(to) - sizes.days * DAY_MS, to: dayOf(to) };
    const year = { seed: 2, from: to - sizes.longDays * DAY_MS + SPARE_MS, to };
    const recipe = { signal: 'decimals' as const, jitterMs: 20 };
    let loaded = 0;
    for (const set of [
      { ...recipe, ...month, intervalMs: sizes.monthMs },
      { ...recipe, ...year, intervalMs: sizes.yearMs },
    ]) {
      const { samples } = await build({
        config,
        fleet: { seed: set.seed, devices: 1, sensors: 1 },
        set,
        into: 'history',
        onProgress: (done) => status(`loading history: ${(done / 1e6).toFixed(1)} million samples`),
      });
      loaded += samples;
    }
    const pipeline = await environment.pipeline('reading');
    const httpProcess = await pipeline.startHttp();
    const http = createHttpReader(httpProcess.url);
    const shape = loadOf(LOAD, sizes.devices);
    status('the highest rate');
    const peak = await measurePeak(pipeline, shape, { environment, flags });

    const pathOf = ({ seed }: { seed: number }) => `/api/v1/devices/load-${seed}-000000/sensors/sensor-000`;
    const rangeOf = (range: { from: number; to: number }) => `from=${range.from}&to=${range.to}`;
    const items = async (path: string) => (await http.json<{ items: unknown[] }>(path)).items.length;
    const points = async (set: typeof month) =>
      (await http.json<{ points: unknown[] }>(`${pathOf(set)}/series?${rangeOf(set)}&points=${POINTS}`))
        .points.length;
    const reads: Record<Name, () => Promise<number>> = {
      latest: () => items(`/api/v1/latest?limit=${PAGE}`),
      page: () => items(`${pathOf(year)}/measurements?limit=${PAGE}`),
      month: () => points(month),
      monthExport: () => http.lines(`${pathOf(month)}/measurements?${rangeOf(month)}&order=asc`),
      year: () => points(year),
    };

    const pids = {
      ...pipeline.pids,
      http: httpProcess.pid,
      bench: process.pid,
      database: environment.database.pid,
    };
    const read = (name: Name, forMs: number): Promise<Measured> =>
      withShares(pids, async () => {
        const { value, mb } = await withPeakMemory(httpProcess.pid, readRepeatedly(reads[name], forMs));
        return { ...value, mb };
      });

    async function readAll() {
      for (const name of NAMES) {
        status(`warming up: ${LABELS[name]}`);
        await read(name, flags.warmMs / 2);
      }
      const measure = (name: Name) => read(name, flags.runMs);
      return alternate({ names: NAMES, rounds: flags.rounds, measure, onStatus: status });
    }

    try {
      const end = await pipeline.hold(shape, peak * SHARE);
      await sleep(flags.warmMs);
      const rounds = await readAll().finally(end);
      return { peak, loaded, rounds };
    } finally {
      http.close();
      await httpProcess.close();
      await environment.close('reading');
    }
  },

  tables: (result) => [
    {
      head: [
        `next to ${figure((result.peak * SHARE) / 1000)} thousand samples/s, ${figure(result.loaded / 1e6)} million stored`,
        ...['items', 'p50 ms', 'p99 ms', 'thousand items/s', 'HTTP process, MB', 'steal'],
      ],
      rows: NAMES.map((name) => {
        const cell = (read: (measured: Measured) => number) =>
          figure(medianOf(result.rounds, (results) => read(results[name])));
        return [
          LABELS[name],
          cell(({ items }) => items),
          cell(({ p50 }) => p50),
          cell(({ p99 }) => p99),
          cell(({ items, p50 }) => items / p50),
          cell(({ mb }) => mb),
          stealOf(result.rounds),
        ];
      }),
    },
  ],

  targets: (result) => [
    {
      figure: "reading a month's samples, against its series of 500 points",
      atLeast: 100,
      value: medianOf(result.rounds, ({ month, monthExport }) => monthExport.p50 / month.p50),
    },
    {
      figure: 'memory of the HTTP process while it exports a month, MB',
      atMost: 200,
      value: Math.max(...result.rounds.map(({ results }) => results.monthExport.mb)),
    },
  ],
});

export const reading = createReadingPart(SIZES);
