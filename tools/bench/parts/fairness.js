import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { shapeOf } from '../load/shapes.js';
import { startObserving } from '../measure/observe.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { connectQuietDevices } from '../publisher/quiet-devices.js';
import { othersOf, stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Latencies } from '../load/latencies.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */

/** One sample a message: most messages, and so the hardest flood. */
const LOAD = '1x1';

/** Enough for a p99 of each run: each of them sends a message a second. */
const QUIET_DEVICES = 100;

/** The device that floods has so many messages unacknowledged: more than a connection may have unsettled. */
const UNACKNOWLEDGED = 1000;
const FLOOD_DEVICE = 0;

/** A run lasts so many times as long as one of a comparison. */
const LONGER = 3;

/** The greatest ratio of the p99 of another device during a flood to its p99 alone. */
const MAX_RATIO = 2;

/** @typedef {'alone' | 'flooded'} Name */

/**
 * Devices that send a message a second to the embedded broker, alone and next to one that floods.
 *
 * @type {Part<Round<Name, Measured>[]>}
 */
export const fairness = {
  name: 'fairness',
  title: `Quiet devices next to one that floods, embedded broker, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = /** @type {Shape} */ (shapeOf(LOAD));
    const pipeline = await environment.embedded('fairness', {});
    const quiet = await connectQuietDevices({
      url: pipeline.url,
      shape,
      first: FLOOD_DEVICE + 1,
      count: QUIET_DEVICES,
    });
    await quiet.measure(flags.warmMs);

    /** @param {Name} name @returns {Promise<Measured>} */
    async function measure(name) {
      const flood = name === 'flooded' ? await startFlood(pipeline.url, shape) : null;
      await sleep(flags.warmMs);
      const observed = await startObserving({ ...pipeline.pids, database: environment.database });
      const before = await pipeline.committed();
      const latencies = await quiet.measure(flags.runMs * LONGER);
      const samples = (await pipeline.committed()) - before;
      const { steal, others } = await observed();
      await flood?.terminate();
      await quiet.measure(flags.warmMs);
      return { ...latencies, samples, steal, others };
    }

    const rounds = await alternate({
      names: /** @type {Name[]} */ (['alone', 'flooded']),
      rounds: flags.rounds,
      onStatus: status,
      measure,
    });
    quiet.close();
    return rounds;
  },

  tables: (rounds) => {
    const ratio = medianOf(rounds, ({ alone, flooded }) => flooded.p99 / alone.p99);
    return [
      {
        head: [
          'PUBACK of a quiet device',
          'p50 ms',
          'p99 ms',
          'max ms',
          'samples committed',
          'steal',
          'others',
        ],
        rows: /** @type {Name[]} */ (['alone', 'flooded']).map((name) => [
          name,
          .../** @type {const} */ (['p50', 'p99', 'max', 'samples']).map((key) =>
            figure(medianOf(rounds, (results) => results[name][key])),
          ),
          stealOf(rounds),
          othersOf(rounds),
        ]),
      },
      {
        head: ['', 'ratio', 'wanted', 'met'],
        rows: [
          ['p99 flooded / alone', figure(ratio), `at most ${MAX_RATIO}`, ratio <= MAX_RATIO ? 'yes' : 'no'],
        ],
      },
    ];
  },
};

/** @param {string} url @param {Shape} shape @returns {Promise<Worker>} */
async function startFlood(url, shape) {
  const worker = new Worker(new URL('../publisher/flood.js', import.meta.url), {
    workerData: { url, shape, device: FLOOD_DEVICE, unacknowledged: UNACKNOWLEDGED },
  });
  await once(worker, 'online');
  return worker;
}

/** @typedef {Latencies & { samples: number, steal: number, others: number }} Measured */
