import { HOUR_MS } from '../../../schema/rules.ts';
import type { Reading } from '../environment/pipeline.ts';
import type { Latencies } from '../load/open-loop.ts';
import { loadOf } from '../load/shapes.ts';
import { type MemoryPoint, startObserving, watchMemory, withShares } from '../measure/machine.ts';
import { measurePeak, measureRate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { storedSamples } from '../measure/stored.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

/** The simulator's collar. */
const LOAD = '4x10';

const SHARES = { '25 %': 0.25, '50 %': 0.5, '75 %': 0.75 };

/** A run is longer than one of a comparison, because a p99.9 needs many messages. */
const LONGER = 2;

type Name = keyof typeof SHARES | 'driver';

const NAMES = [...Object.keys(SHARES), 'driver'] as Name[];

/**
 * Measures the time from the intended publish of a message to the acknowledgement of its commit, at several shares of the highest
 * rate. The driver alone writes the same rows at half of the highest rate.
 */
export const latency: Part<Result> = {
  name: 'latency',
  title: `Latency from the intended publish to the acknowledgement of the commit, open loop, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD);
    const wired = await environment.wired();
    const driver = await environment.driver();
    status('the highest rate');
    const peak = await measurePeak(wired, shape, { environment, flags });
    const forMs = flags.runMs * LONGER;

    async function run(name: Name): Promise<Latencies> {
      if (name === 'driver') return driver.pace(shape, { rate: peak * SHARES['50 %'], forMs });
      return (await wired.pace(shape, { rate: peak * SHARES[name], forMs })).latency.published;
    }

    status('warming up: driver');
    await driver.pace(shape, { rate: peak * SHARES['50 %'], forMs: flags.warmMs });
    const rounds = await alternate({
      names: NAMES,
      rounds: flags.rounds,
      onStatus: status,
      measure: (name) =>
        withShares({ ...wired.pids, driver: driver.pid, database: environment.database }, () => run(name)),
    });
    return { peak, rounds };
  },

  tables: ({ peak, rounds }) => [
    {
      head: [
        `of ${figure(peak / 1000)} thousand samples/s`,
        'p50 ms',
        'p99 ms',
        'p99.9 ms',
        'mean ms',
        'p99.9 / mean',
        'steal',
      ],
      rows: NAMES.map((name) => [
        name === 'driver' ? 'driver alone, no MQTT, 50 %' : name,
        ...(['p50', 'p99', 'p999', 'mean'] as const).map((key) =>
          figure(medianOf(rounds, (results) => results[name][key])),
        ),
        figure(medianOf(rounds, (results) => results[name].p999 / results[name].mean)),
        stealOf(rounds),
      ]),
    },
    {
      head: ['at 50 %', 'ratio'],
      rows: [
        [
          "p99 of the whole way / the driver's",
          figure(medianOf(rounds, (results) => results['50 %'].p99 / results.driver.p99)),
        ],
      ],
    },
  ],
};

type Measured = Latencies & { steal: number; others: number };

type Result = { peak: number; rounds: Round<Name, Measured>[] };

const OVERLOAD_SHARE = 2;

/** Length as a multiple of a run of a comparison: 60 s if such a run takes 4 s. */
const OVERLOAD_LONGER = 15;

/**
 * Publishes at twice the highest rate. The broker queues the waiting messages, the memory of ingest stays constant, and latencies
 * grow in proportion. At the end the database has all samples.
 */
export const overload: Part<OverloadResult> = {
  name: 'overload',
  title: `Twice the highest rate, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD);
    const wired = await environment.wired();
    const from = Date.now() - HOUR_MS;
    status('the highest rate');
    const timing = { database: environment.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
    const { rate: peak } = await measureRate(wired, shape, timing);
    const rounds = await alternate({
      names: ['overload'] as ['overload'],
      rounds: 1,
      onStatus: status,
      async measure() {
        const observed = await startObserving({ ...wired.pids, database: environment.database });
        const memory = watchMemory(Number(wired.pids['ingest']));
        const { published, latency } = await wired.pace(shape, {
          rate: peak * OVERLOAD_SHARE,
          forMs: flags.runMs * OVERLOAD_LONGER,
          onLook: async (counts) => {
            status(`${counts.published} messages published, ${counts.committed} committed`);
            await memory.look();
          },
        });
        const { seconds, steal, others } = await observed();
        return { published, latency, memory: memory.points, seconds, steal, others };
      },
    });
    status('comparing with the database');
    const [committed, stored] = await Promise.all([
      wired.committed(),
      storedSamples(wired.cql, { devices: shape.devices, from, to: Date.now() + HOUR_MS }),
    ]);
    return { peak, forSeconds: (flags.runMs * OVERLOAD_LONGER) / 1000, rounds, committed, stored };
  },

  tables({ peak, forSeconds, rounds, committed, stored }) {
    const run = rounds[0]?.results.overload;
    if (!run) return [];
    const { published, delivered } = run.latency;
    const highest = Math.max(...run.memory.map(({ mb }) => mb));
    return [
      {
        head: [
          `${figure(forSeconds)} s at ${figure((peak * OVERLOAD_SHARE) / 1000)} thousand samples/s`,
          'p50 ms',
          'p99 ms',
          'p99.9 ms',
          'mean ms',
          'p99.9 / mean',
          'steal',
        ],
        rows: (
          [
            ['from the intended publish', published],
            ['from the sending by the broker', delivered],
          ] as const
        ).map(([from, { p50, p99, p999, mean }]) => [
          `${from} to the acknowledgement`,
          ...[p50, p99, p999, mean, p999 / mean].map((number) => figure(number)),
          stealOf(rounds),
        ]),
      },
      {
        head: ['memory of ingest, samples', ''],
        rows: [
          ['at the start, MB', figure(run.memory[0]?.mb ?? Number.NaN)],
          ['at most, MB', figure(highest)],
          ['acknowledged in all, also before', String(committed)],
          ['of these missing in the database', String(committed - stored)],
        ],
      },
    ];
  },
};

type OverloadRun = {
  published: number;
  latency: Reading;
  memory: MemoryPoint[];
  seconds: number;
  steal: number;
  others: number;
};

type OverloadResult = {
  peak: number;
  forSeconds: number;
  rounds: Round<'overload', OverloadRun>[];
  committed: number;
  stored: number;
};
