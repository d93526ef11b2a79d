import { visitBlock } from '../../../schema/packed/block.js';
import { allParts } from '../../store/index.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { PackingObserver } from './sensor-hour.js' */
/** @import { Steps } from './steps.js' */

/**
 * The samples of a sensor in one hour, as the rows of `message` hold them. The samples are in the order of reading, and a
 * time may occur more than once.
 *
 * @typedef {{ sensor: Buffer, times: number[], values: number[] }} Collected `sensor`: 16 bytes; `times` in epoch ms
 */

/**
 * Some sensors of a device in one hour.
 *
 * @typedef {object} Gathered
 * @property {Map<string, Collected>} sensors samples of sensors, by sensor id in hex
 * @property {number} unreadable number of rows that this process cannot read; they may hold samples of any sensor
 */

/**
 * Reads an hour of a device from `message`. If the device has many sensors, the hour is read part by part, with some sensors in each
 * part. If the number of parts has grown during the hour, a sensor may be in several parts, so all parts are read together.
 *
 * @param {object} deps
 * @param {Pick<Store['packing'], 'blockPage'>} deps.store
 * @param {Steps} deps.steps
 * @param {Pick<PackingObserver, 'onUnreadable'>} deps.observer
 * @param {Buffer} deps.device 16 bytes
 * @param {number} deps.hour epoch ms
 * @returns {AsyncGenerator<Gathered, void>} sensors of the hour; each sensor occurs in only one item
 */
export async function* readDeviceHour({ store, steps, observer, device, hour }) {
  let gathered = createGathered();
  const counts = await readPart(gathered, 0);
  const others = allParts(counts);
  const disjoint = counts.length === 1 && gathered.sensors.size === 0 && gathered.unreadable === 0;
  for (const part of others) {
    if (disjoint) gathered = createGathered();
    await readPart(gathered, part);
    if (disjoint) yield gathered;
  }
  if (!disjoint) yield gathered;

  /** @param {Gathered} into @param {number} part @returns {Promise<number[]>} each number of parts over which sensors of the hour were spread */
  async function readPart(into, part) {
    /** @type {string | undefined} */
    let after;
    const before = into.unreadable;
    /** @type {Set<number>} */
    const found = new Set();
    do {
      const { blocks, parts, next } = await steps.run(() => store.blockPage(device, hour, part, after));
      for (const blob of blocks) collect(into, hour, blob);
      for (const count of parts) found.add(count);
      after = next;
    } while (after);
    if (into.unreadable > before) observer.onUnreadable({ device, hour }, into.unreadable - before);
    return [...found];
  }
}

/** @returns {Gathered} */
const createGathered = () => ({ sensors: new Map(), unreadable: 0 });

/** @param {Gathered} into @param {number} hour epoch ms @param {Buffer} blob */
function collect(into, hour, blob) {
  /** @type {Array<{ sensor: Buffer, series: Series }>} */
  const read = [];
  try {
    visitBlock(hour, blob, (sensor, series) => read.push({ sensor, series: series() }));
  } catch (error) {
    // Bytes that are no block cause a RangeError. One broken row must not stop packing, so the row is only counted.
    if (!(error instanceof RangeError)) throw error;
    into.unreadable++;
    return;
  }
  for (const { sensor, series } of read) {
    const id = sensor.toString('hex');
    let collected = into.sensors.get(id);
    if (!collected) {
      // The id is copied, because it is a slice of the whole block and would keep the block in memory.
      collected = { sensor: Buffer.from(sensor), times: [], values: [] };
      into.sensors.set(id, collected);
    }
    for (let i = 0; i < series.times.length; i++) {
      collected.times.push(/** @type {number} */ (series.times[i]));
      collected.values.push(/** @type {number} */ (series.values[i]));
    }
  }
}
