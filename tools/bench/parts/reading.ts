import { loadOf } from '../load/shapes.js';
import { withPeakMemory, withShares } from '../measure/machine.js';
import { measurePeak, measureRate } from '../measure/rate.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { createBackground, loadAll, planOf } from '../reading/data.js';
import { createHttpReader } from '../reading/http.js';
import { KINDS, NAMES, RATIOS, READINGS, readRepeatedly } from '../reading/kinds.js';
import { openStoreReader } from '../reading/store.js';
import { figure, percent, stealOf } from '../report/table.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Environment } from '../environment/index.js' */
/** @import { Line } from '../environment/pipeline.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */
/** @import { Sizes } from '../reading/data.js' */
/** @import { Kind, Name, Read, Target } from '../reading/kinds.js' */

/** The load during the reads: the simulator's collar, at this share of its highest rate. */
const LOAD = '4x10';
const SHARE = 0.5;

/** @type {Sizes} */
const SIZES = {
  small: { sensors: 12, days: 1 },
  large: { sensors: 4, days: 30, longDays: 365 },
  intervalMs: 1000,
  devices: 1000,
};

/**
 * Measures reads over HTTP and from the store, with a small and a large amount of stored data. Devices publish at half of the
 * highest rate meanwhile. At the end, one export reads all samples of the sensor with the longest history.
 *
 * @param {Sizes} sizes
 * @returns {Part<Result>}
 */
export const createReadingPart = (sizes) => ({
  name: 'reading',
  title: `Reading, while devices measure at half of the highest rate, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const plan = planOf(sizes, Date.now());
    const configs = { small: await environment.prepare('small'), large: await environment.prepare('large') };
    const loaded = {
      small: await loadAll(configs.small, plan.small, status),
      large: await loadAll(configs.large, plan.large, status),
    };
    const lines = { small: await environment.pipeline('small'), large: await environment.pipeline('large') };
    const readers = {
      small: await openReader(environment, lines.small, configs.small),
      large: await openReader(environment, lines.large, configs.large),
    };
    const shape = loadOf(LOAD, sizes.devices);
    status('registering devices');
    await measureRate(lines.small, shape, { database: environment.database, warmMs: 0, forMs: 100 });
    status('the highest rate');
    const peak = await measurePeak(lines.large, shape, { environment, flags });
    const background = createBackground({ shape, rate: peak * SHARE, warmMs: flags.warmMs });

    /** @param {Name} name @param {number} forMs */
    async function read(name, forMs) {
      const { system, kind, target } = READINGS[name];
      await background.into(lines[system]);
      return readers[system].read(kind, plan.targets[target], forMs);
    }

    try {
      for (const name of NAMES) {
        status(`warming up: ${READINGS[name].label}`);
        await read(name, flags.warmMs / 2);
      }
      const rounds = await alternate({
        names: NAMES,
        rounds: flags.rounds,
        measure: (name) => read(name, flags.runMs),
        onStatus: status,
      });
      status('export of a year');
      const longest = await readers.large.read('export', plan.targets.year, 0);
      await background.stop();
      const stored = {
        small: loaded.small + (await lines.small.committed()),
        large: loaded.large + (await lines.large.committed()),
      };
      return { peak, loaded, stored, rounds, longest };
    } finally {
      await background.stop();
      for (const { close } of Object.values(readers)) await close();
      for (const name of ['small', 'large']) {
        await environment.close(`${name}-front`);
        await environment.close(name);
      }
    }
  },

  tables: ({ peak, loaded, stored, rounds, longest }) => [
    {
      head: [
        `next to ${figure((peak * SHARE) / 1000)} thousand samples/s`,
        'items',
        'p50 ms',
        'p99 ms',
        'thousand items/s',
        'HTTP process, MB',
        'steal',
      ],
      rows: [
        ...NAMES.map((name) =>
          rowOf(
            READINGS[name].label,
            (read) => medianOf(rounds, ({ [name]: of }) => read(of)),
            stealOf(rounds),
          ),
        ),
        rowOf('export of a year, once', (read) => read(longest), percent(longest.steal)),
      ],
    },
    {
      head: ['side by side', 'ratio'],
      rows: Object.values(RATIOS).map(({ label, ratio }) => [label, figure(medianOf(rounds, ratio))]),
    },
    {
      head: ['million samples stored', 'loaded', 'at the end'],
      rows: /** @type {const} */ (['small', 'large']).map((name) => [
        name === 'small' ? 'little' : 'much',
        figure(loaded[name] / 1e6),
        figure(stored[name] / 1e6),
      ]),
    },
  ],
});

export const reading = createReadingPart(SIZES);

/** @param {string} label @param {(read: (measured: Measured) => number) => number} of @param {string} steal */
const rowOf = (label, of, steal) => [
  label,
  figure(of(({ items }) => items)),
  figure(of(({ p50 }) => p50)),
  figure(of(({ p99 }) => p99)),
  figure(of(({ items, p50 }) => items / p50)),
  figure(of(({ mb }) => mb)),
  steal,
];

/**
 * @typedef {object} Result
 * @property {number} peak highest rate, samples/s
 * @property {{ small: number, large: number }} loaded number of loaded samples
 * @property {{ small: number, large: number }} stored number of stored samples at the end
 * @property {Round<Name, Measured>[]} rounds
 * @property {Measured} longest
 */

/**
 * The result of a reading, and the state of the machine during the reading.
 *
 * @typedef {Read & { mb: number, steal: number, others: number }} Measured `mb`: maximum memory of the HTTP process, in MB
 */

/**
 * Opens a reader of the data of a line.
 *
 * @param {Environment} environment
 * @param {Line} line
 * @param {Config} config configuration of that line
 */
async function openReader(environment, line, config) {
  const front = await environment.front(line);
  const http = createHttpReader(front.url);
  const store = await openStoreReader(config);
  return {
    async close() {
      http.close();
      await store.close();
    },

    /** @param {Kind} kind @param {Target} target @param {number} forMs @returns {Promise<Measured>} */
    read(kind, target, forMs) {
      const pids = { ...line.pids, http: front.pid, bench: process.pid, database: environment.database };
      return withShares(pids, async () => {
        const reads = readRepeatedly(() => KINDS[kind]({ http, store }, target), forMs);
        const { value, mb } = await withPeakMemory(front.pid, reads);
        return { ...value, mb };
      });
    },
  };
}
