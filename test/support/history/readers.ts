import { createReading } from '../../../api/history/reading/index.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { faultsOf, seriesFaultsOf } from './samples.js';

/** @import { Order, Range, Sensor } from '../../../api/history/reading/hours.js' */
/** @import { Reading } from '../../../api/history/reading/index.js' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { Random } from '../../../simulator/random.js' */
/** @import { Known } from './samples.js' */
/** @import { SimulatedDevice, SimulatedInstallation, SimulatedSensor } from './simulated-installation.js' */

/** @typedef {{ acknowledged: Known, sent: Known }} KnownBoth */

/** @param {SimulatedInstallation} installation @returns {Range} the range of all measurements */
const wholeRange = ({ start }) => ({ from: start - 2 * HOUR_MS, to: start + 7 * HOUR_MS });

/**
 * Reads a sensor in one way.
 *
 * @callback Way
 * @param {Reading} reading
 * @param {Sensor} sensor
 * @param {Range} range
 * @param {Random} random
 * @param {() => { acknowledged: Map<number, number[]>, sent: Map<number, number[]> }} known `acknowledged`: before the reading began
 * @returns {Promise<string[]>} the faults
 */

/** @type {Way} */
async function pages(reading, sensor, range, random, known) {
  const order = random.uniform() < 0.5 ? 'asc' : 'desc';
  const limit = random.uniform() < 0.5 ? 5 : 1000;
  const got = await readPages(reading, sensor, range, { order, limit });
  return faultsOf(order === 'asc' ? got : got.reverse(), known()).map(by(`${order} pages`));
}

/** @type {Way} */
async function whole(reading, sensor, range, _random, known) {
  return faultsOf(await readWhole(reading, sensor, range), known()).map(by('export'));
}

/** @type {Way} */
async function series(reading, sensor, range, random, known) {
  const points = /** @type {number} */ (random.shuffled([3, 6, 100])[0]);
  const shape = await reading.series(sensor, range, { points, newest: range.to });
  return seriesFaultsOf(shape, known()).map(by(`${points} points from ${shape.source}`));
}

/** The ways of reading. `series` is listed twice, so a random choice prefers it, because only `series` reads the stored statistics. @type {Way[]} */
const WAYS = [series, series, pages, whole];

/**
 * @param {object} options
 * @param {Store} options.store
 * @param {Random} options.random
 * @param {SimulatedInstallation} options.installation
 * @param {KnownBoth} options.known
 */
export function createReaders({ store, random, installation, known: { acknowledged, sent } }) {
  const range = wholeRange(installation);

  /** @param {SimulatedDevice} device @param {SimulatedSensor} sensor @param {Way} way */
  async function readBy(device, { key, bytes }, way) {
    const before = acknowledged.copy(key);
    const sensor = { device: device.bytes, sensor: bytes, group: device.group };
    const knownNow = () => ({ acknowledged: before, sent: sent.instantsOf(key) });
    return way(createReading(store), sensor, range, random, knownNow);
  }

  return {
    /** Reads one sensor in one way. @returns {Promise<string[]>} the faults */
    async readOne() {
      const [device] = random.shuffled(installation.devices);
      const [sensor] = random.shuffled(device?.sensors ?? []);
      const [way] = random.shuffled(WAYS);
      return device && sensor && way ? readBy(device, sensor, way) : [];
    },

    /** Reads every sensor in every way. @returns {Promise<string[]>} the faults */
    async readAll() {
      const faults = [];
      for (const device of installation.devices) {
        for (const sensor of device.sensors) {
          for (const way of new Set(WAYS)) faults.push(...(await readBy(device, sensor, way)));
        }
      }
      return faults;
    },
  };
}

/** @param {string} way of reading @returns {(fault: string) => string} */
const by = (way) => (fault) => `${way}: ${fault}`;

/**
 * @param {Reading} reading
 * @param {Sensor} sensor
 * @param {Range} range
 * @param {{ order: Order, limit: number }} options
 */
async function readPages(reading, sensor, range, { order, limit }) {
  const got = [];
  for (let rest = range; rest.from < rest.to; ) {
    const page = await reading.page(sensor, rest, { order, limit });
    got.push(...page.times.map((ts, index) => ({ ts, value: Number(page.values[index]) })));
    if (page.reached === null) break;
    rest = order === 'asc' ? { ...rest, from: page.reached } : { ...rest, to: page.reached };
  }
  return got;
}

/** @param {Reading} reading @param {Sensor} sensor @param {Range} range */
async function readWhole(reading, sensor, range) {
  const got = [];
  for await (const { times, values } of reading.all(sensor, range, 'asc', new AbortController().signal)) {
    for (let i = 0; i < times.length; i++) got.push({ ts: Number(times[i]), value: Number(values[i]) });
  }
  return got;
}
