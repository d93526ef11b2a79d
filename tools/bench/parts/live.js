import { loadOf } from '../load/shapes.js';
import { startObserving } from '../measure/machine.js';
import { measurePeak } from '../measure/rate.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { figure, stealOf } from '../report/table.js';

/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */

/** The simulator's collar, at half of its highest rate. */
const LOAD = '4x10';
const SHARE = 0.5;

/** Changes of one sensor within this time become one, in ms: a promise of `/stream`. */
export const COALESCED_MS = 250;

/** Length of a run, in runs of a comparison. */
const LONGER = 2;

/** The readers, and the devices that each of them follows. @typedef {{ readers: number, devicesEach: number, devices: number }} Sizes */

/** @type {Sizes} */
const SIZES = { readers: 100, devicesEach: 5, devices: 1000 };

/**
 * Latencies after the publishing of a sample: until a reader of the live stream has parsed it, and until its message is committed.
 *
 * @param {Sizes} sizes
 * @returns {Part<Result>}
 */
export const createLivePart = (sizes) => ({
  name: 'live',
  title: `From the sample to ${sizes.readers} readers of the live stream, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD, sizes.devices);
    const wired = await environment.wired();
    const front = await environment.front(wired);
    status('the highest rate');
    const peak = await measurePeak(wired, shape, { environment, flags });
    const pids = { ...wired.pids, ...front.pids, database: environment.database };
    const rounds = await alternate({
      names: /** @type {['live']} */ (['live']),
      rounds: flags.rounds,
      onStatus: status,
      async measure() {
        await front.follow({ ...sizes, samples: shape.samples });
        const observed = await startObserving(pids);
        const load = { rate: peak * SHARE, forMs: flags.runMs * LONGER };
        const { published } = (await wired.pace(shape, load)).latency;
        const { steal, others } = await observed();
        return { committed: published, seen: await front.unfollow(), steal, others };
      },
    });
    await environment.close('wired-front');
    return { peak, rounds };
  },

  tables: ({ peak, rounds }) => [
    {
      head: [
        `at ${figure((peak * SHARE) / 1000)} thousand samples/s, until`,
        'p50 ms',
        'p99 ms',
        'p99.9 ms',
        'count',
        'steal',
      ],
      rows: /** @type {const} */ (['committed', 'seen']).map((kind) => [
        kind === 'seen' ? 'a reader has it' : 'it is committed',
        .../** @type {const} */ (['p50', 'p99', 'p999', 'count']).map((key) =>
          figure(medianOf(rounds, ({ live: run }) => run[kind][key])),
        ),
        stealOf(rounds),
      ]),
    },
  ],
});

export const live = createLivePart(SIZES);

/** @typedef {{ committed: Latencies, seen: Latencies, steal: number, others: number }} Run */

/** @typedef {{ peak: number, rounds: Round<'live', Run>[] }} Result */
