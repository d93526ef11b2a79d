import { shapeOf } from '../load/shapes.js';
import { startObserving } from '../measure/observe.js';
import { measurePeak } from '../measure/peak.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Latencies } from '../load/latencies.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */

/** The simulator's collar. */
const LOAD = '4x10';

/** Parts of the highest rate found. */
const SHARES = { '25 %': 0.25, '50 %': 0.5, '75 %': 0.75 };

/** A run lasts so many times as long as one of a comparison: a p99.9 needs messages. */
const LONGER = 2;

/** @typedef {keyof typeof SHARES | 'native'} Name */

/**
 * How long a message takes from when it should be published to the acknowledgement of its commit, at parts of the
 * highest rate; and the native baseline at the same rate as half of it.
 *
 * @type {Part<Result>}
 */
export const latency = {
  name: 'latency',
  title: `Latency from the intended publish to the acknowledgement of the commit, open loop, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = /** @type {Shape} */ (shapeOf(LOAD));
    const wired = await environment.wired();
    const native = await environment.native();
    status('the highest rate');
    const peak = await measurePeak(wired, shape, { environment, flags });
    const forMs = flags.runMs * LONGER;

    /** @param {Name} name @returns {Promise<Latencies>} */
    async function run(name) {
      if (name === 'native') return native.paced(shape, { rate: peak * SHARES['50 %'], forMs });
      return (await wired.pace(shape, { rate: peak * SHARES[name], forMs })).latency.published;
    }

    await native.paced(shape, { rate: peak * SHARES['50 %'], forMs: flags.warmMs });
    const rounds = await alternate({
      names: /** @type {Name[]} */ ([...Object.keys(SHARES), 'native']),
      rounds: flags.rounds,
      onStatus: status,
      async measure(name) {
        const observed = await startObserving({
          ...wired.pids,
          native: native.pids['ingest'] ?? 0,
          database: environment.database,
        });
        const latencies = await run(name);
        const { steal, others } = await observed();
        return { ...latencies, steal, others };
      },
    });
    return { peak, rounds };
  },

  tables({ peak, rounds }) {
    const names = /** @type {Name[]} */ ([...Object.keys(SHARES), 'native']);
    return [
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
        rows: names.map((name) => [
          name === 'native' ? 'native baseline, no MQTT, 50 %' : name,
          .../** @type {const} */ (['p50', 'p99', 'p999', 'mean']).map((key) =>
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
            "p99 of the whole way / the native baseline's",
            figure(medianOf(rounds, (results) => results['50 %'].p99 / results.native.p99)),
          ],
        ],
      },
    ];
  },
};

/** @typedef {Latencies & { steal: number, others: number }} Measured */

/** @typedef {{ peak: number, rounds: Round<Name, Measured>[] }} Result */
