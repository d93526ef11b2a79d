import { someAtOnce } from '../../../common/some-at-once.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { register } from './fleet.js';
import { samplesOfHour, samplesPerHour } from './samples.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { LoadedDevice } from './fleet.js' */
/** @import { Recipe } from './samples.js' */
/** @import { HourWriter } from './writers.js' */

/** A device's hours that are under way at once: enough that the database is never idle, far from the driver's bounds. */
const AT_ONCE = 48;

/**
 * The definition of a data set. The same definition always writes the same samples.
 *
 * @typedef {Recipe & { from: number, to: number }} DataSet `from`, `to`: epoch ms, starts of hours
 */

/**
 * Builds a data set by the application's own statements: devices and sensors, the samples of every hour, and the latest
 * value of each sensor.
 *
 * @param {object} parts
 * @param {Store} parts.store
 * @param {HourWriter} parts.write
 * @param {LoadedDevice[]} parts.fleet
 * @param {DataSet} parts.set
 * @param {(samples: number) => void} [parts.onProgress] called often, with the samples committed so far
 * @param {AbortSignal} [parts.signal] gives up, between two hours
 * @returns {Promise<{ samples: number }>} committed
 */
export async function load({ store, write, fleet, set, onProgress = () => {}, signal }) {
  let samples = 0;
  const now = Date.now();
  await someAtOnce(AT_ONCE, fleet, (device) =>
    register(store.registry, device, { now, intervalMs: set.intervalMs }),
  );
  await someAtOnce(AT_ONCE, hoursOf(fleet, set), async ({ device, hour }) => {
    signal?.throwIfAborted();
    const sensors = device.sensors.map(({ name, bytes }) => ({
      sensor: bytes,
      series: samplesOfHour(set, { device: device.name, sensor: name }, hour),
    }));
    await write(device, hour, sensors);
    samples += sensors.reduce((sum, { series }) => sum + series.times.length, 0);
    onProgress(samples);
  });
  await someAtOnce(AT_ONCE, fleet, (device) => writeLatest(store, device, set));
  return { samples };
}

/** @param {LoadedDevice[]} fleet @param {DataSet} set hour by hour, as time would bring them */
function* hoursOf(fleet, { from, to }) {
  for (let hour = from; hour < to; hour += HOUR_MS) for (const device of fleet) yield { device, hour };
}

/** @param {Store} store @param {LoadedDevice} device @param {DataSet} set */
async function writeLatest({ latest }, { name, bytes, group, sensors }, set) {
  const newest = new Map(
    sensors.map((sensor) => {
      const { times, values } = samplesOfHour(set, { device: name, sensor: sensor.name }, set.to - HOUR_MS);
      return [sensor.bytes, { ts: Number(times.at(-1)), value: Number(values.at(-1)) }];
    }),
  );
  await latest.write(
    group,
    () => [{ device: bytes, newest }],
    () => newest.size,
  );
}

/** @param {{ devices: number, sensors: number }} fleet @param {DataSet} set @returns {number} samples in all */
export const samplesIn = ({ devices, sensors }, { from, to, intervalMs }) =>
  devices * sensors * ((to - from) / HOUR_MS) * samplesPerHour(intervalMs);
