import { createReading } from '../../../api/reading/index.js';
import { groupOf } from '../../../schema/ids.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { faultsOf, seriesFaultsOf } from './samples.js';

/** @typedef {import('../../../api/store/index.js').Store} Store */
/** @typedef {import('./world.js').World} World */
/** @typedef {{ acknowledged: import('./samples.js').Known, sent: import('./samples.js').Known }} KnownBoth */

/** @param {World} world @returns {import('../../../api/reading/chunks.js').Range} all that is ever measured */
const wholeRange = ({ start }) => ({ from: start - 6 * HOUR_MS, to: start + 24 * HOUR_MS });

/**
 * Reads each sensor in every way there is, and holds what comes against what is known.
 *
 * @param {object} parts
 * @param {Store} parts.store
 * @param {import('../../../simulator/random.js').Random} parts.random
 * @param {World} parts.world
 * @param {KnownBoth} parts.known
 * @returns {Promise<string[]>} what is wrong
 */
export async function readAll({ store, random, world, known: { acknowledged, sent } }) {
  const range = wholeRange(world);
  /** @type {string[]} */
  const faults = [];
  for (const { bytes: device, sensors } of world.devices) {
    for (const { key, bytes } of sensors) {
      const sensor = { device, sensor: bytes, group: groupOf(device, 1) };
      const knownNow = () => ({ acknowledged: before, sent: sent.of(key) });
      const before = acknowledged.copy(key);
      const order = random.uniform() < 0.5 ? 'asc' : 'desc';
      const limit = random.uniform() < 0.5 ? 5 : 1000;
      const got = await readPages(createReading(store), sensor, range, { order, limit });
      faults.push(...faultsOf(order === 'asc' ? got : got.reverse(), knownNow()).map(of(`${order} pages`)));
      const whole = await readWhole(createReading(store), sensor, range);
      faults.push(...faultsOf(whole, knownNow()).map(of('export')));
      const points = /** @type {number} */ (random.shuffled([5, 20, 200])[0]);
      const shape = await createReading(store).series(sensor, range, { points, newest: range.to });
      faults.push(...seriesFaultsOf(shape, knownNow()).map(of(`${points} points from ${shape.source}`)));
    }
  }
  return faults;
}

/** @param {string} way of reading @returns {(fault: string) => string} */
const of = (way) => (fault) => `${way}: ${fault}`;

/**
 * @param {import('../../../api/reading/index.js').Reading} reading
 * @param {import('../../../api/reading/hours.js').Sensor} sensor
 * @param {import('../../../api/reading/chunks.js').Range} range
 * @param {{ order: import('../../../api/reading/chunks.js').Order, limit: number }} options
 */
async function readPages(reading, sensor, range, { order, limit }) {
  const got = [];
  for (let rest = range; rest.from < rest.to; ) {
    const page = await reading.page(sensor, rest, { order, limit });
    got.push(...page.times.map((ts, at) => ({ ts, value: Number(page.values[at]) })));
    if (page.reached === null) break;
    rest = order === 'asc' ? { ...rest, from: page.reached } : { ...rest, to: page.reached };
  }
  return got;
}

/**
 * @param {import('../../../api/reading/index.js').Reading} reading
 * @param {import('../../../api/reading/hours.js').Sensor} sensor
 * @param {import('../../../api/reading/chunks.js').Range} range
 */
async function readWhole(reading, sensor, range) {
  const got = [];
  for await (const { times, values } of reading.all(sensor, range, 'asc', new AbortController().signal)) {
    for (let at = 0; at < times.length; at++) got.push({ ts: Number(times[at]), value: Number(values[at]) });
  }
  return got;
}

/**
 * A store by which a reader sees older statistics than packed_until: the wrong order.
 *
 * @param {Store} store
 * @param {World} world
 * @returns {Store}
 */
export function withStatisticsFirst(store, world) {
  /** @type {Map<string, import('../../../api/store/history/reads.js').HourRow[]>} */
  const older = new Map();
  const { from, to } = wholeRange(world);
  return {
    ...store,
    packProgress: {
      ...store.packProgress,
      async read(group) {
        for (const { bytes: device, sensors } of world.devices) {
          for (const { bytes: sensor } of sensors) {
            older.set(
              sensor.toString('hex'),
              await store.packed.readStatistics({ device, sensor }, from, to),
            );
          }
        }
        return store.packProgress.read(group);
      },
    },
    packed: {
      ...store.packed,
      readStatistics: async ({ sensor }, begin, end) =>
        (older.get(sensor.toString('hex')) ?? []).filter(({ hour }) => hour >= begin && hour < end),
    },
  };
}
