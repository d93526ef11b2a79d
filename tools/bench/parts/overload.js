import { HOUR_MS } from '../../../schema/rules.js';
import { shapeOf } from '../load/shapes.js';
import { watchMemory } from '../measure/memory.js';
import { startObserving } from '../measure/observe.js';
import { measureRate } from '../measure/rate.js';
import { alternate } from '../measure/rounds.js';
import { storedSamples } from '../measure/stored.js';
import { stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { MemoryPoint } from '../measure/memory.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Reading } from '../environment/wired.js' */
/** @import { Part } from './index.js' */

/** The simulator's collar. */
const LOAD = '4x10';

/** Multiple of the highest rate. */
const SHARE = 2;

/** Runs of a comparison that the sensors publish for: 60 s if one lasts 4. */
const LONGER = 15;

/**
 * Twice what the machine can take: the broker holds what waits, ingest's memory stays flat, latencies in proportion,
 * and in the end the database holds all of it.
 *
 * @type {Part<Result>}
 */
export const overload = {
  name: 'overload',
  title: `Twice the highest rate, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = /** @type {Shape} */ (shapeOf(LOAD));
    const wired = await environment.wired();
    const from = Date.now() - HOUR_MS;
    status('the highest rate');
    const timing = { database: environment.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
    const { rate: peak } = await measureRate(wired, shape, timing);
    const rounds = await alternate({
      names: /** @type {['overload']} */ (['overload']),
      rounds: 1,
      onStatus: status,
      async measure() {
        const observed = await startObserving({ ...wired.pids, database: environment.database });
        const memory = watchMemory(Number(wired.pids['ingest']));
        const { published, latency } = await wired.pace(shape, {
          rate: peak * SHARE,
          forMs: flags.runMs * LONGER,
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
    return { peak, forSeconds: (flags.runMs * LONGER) / 1000, rounds, committed, stored };
  },

  tables({ peak, forSeconds, rounds, committed, stored }) {
    const run = rounds[0]?.results.overload;
    if (!run) return [];
    const { published, delivered } = run.latency;
    const highest = Math.max(...run.memory.map(({ mb }) => mb));
    return [
      {
        head: [
          `${figure(forSeconds)} s at ${figure((peak * SHARE) / 1000)} thousand samples/s`,
          'p50 ms',
          'p99 ms',
          'p99.9 ms',
          'mean ms',
          'p99.9 / mean',
          'steal',
        ],
        rows: /** @type {const} */ ([
          ['from the intended publish', published],
          ['from the sending by the broker', delivered],
        ]).map(([from, { p50, p99, p999, mean }]) => [
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

/** @typedef {{ published: number, latency: Reading, memory: MemoryPoint[], seconds: number, steal: number, others: number }} Run */

/** @typedef {{ peak: number, forSeconds: number, rounds: Round<'overload', Run>[], committed: number, stored: number }} Result */
