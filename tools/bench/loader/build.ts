import { historyRows } from '../../../api/history/packing/sensor-hour.js';
import { createLateWriter, LateArrivalNotes, LateDayNotes } from '../../../api/ingest/late-samples.js';
import { connectStore } from '../../../api/store/index.js';
import { forEachConcurrently } from '../../../common/concurrency.js';
import { hourStatisticsOf } from '../../../schema/packed/statistics.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { createRowTable, STORES } from '../variants/stores.js';
import { fleetOf, register, samplesOfHour, samplesPerHour } from './data-set.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { LoadedDevice, Recipe } from './data-set.js' */

/** @typedef {'history' | 'batches' | 'rows'} Into */

/** Number of samples of a sensor in a message. */
const BATCH = 60;

/**
 * Builds a data set in a migrated keyspace.
 *
 * @param {object} options
 * @param {Config} options.config
 * @param {{ seed: number, devices: number, sensors: number }} options.fleet
 * @param {DataSet} options.set
 * @param {Into} options.into
 * @param {(hour: number) => number} [options.arrival] returns the commit time of the messages of an hour, epoch ms; default: now,
 *   so that most messages are late
 * @param {(samples: number) => void} [options.onProgress]
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<{ samples: number }>} number of committed samples
 */
export async function build({ config, fleet, set, into, arrival, onProgress, signal }) {
  const store = await openStore(config, into);
  try {
    const write =
      into === 'history'
        ? createHistoryWriter(store, Date.now())
        : // The store with one row per sample is only used for comparison, so its samples do not go into history.
          createMessageWriter(store, into === 'rows' ? (hour) => hour : (arrival ?? Date.now));
    const devices = fleetOf({ ...fleet, groups: config.retention.latestGroups });
    return await load({ store, write, fleet: devices, set, onProgress, signal });
  } finally {
    await store.close();
  }
}

/** @param {Config} config @param {Into} into */
async function openStore(config, into) {
  const parts = { ...config, observe: () => {}, onStaleIndex: () => {} };
  if (into !== 'rows') return connectStore(parts);
  await createRowTable(config);
  return /** @type {typeof connectStore} */ (STORES['rows'])(parts);
}

/** Number of hours of devices that are written concurrently: enough to keep the database busy, and far below the limits of the driver. */
const AT_ONCE = 48;

/**
 * The definition of a data set. The same definition always writes the same samples.
 *
 * @typedef {Recipe & { from: number, to: number }} DataSet `from`, `to`: epoch ms, starts of hours
 */

/**
 * Writes a data set with the statements of the application: devices and sensors, the samples of every hour, and the latest value
 * of each sensor.
 *
 * @param {object} parts
 * @param {Store} parts.store
 * @param {HourWriter} parts.write
 * @param {LoadedDevice[]} parts.fleet
 * @param {DataSet} parts.set
 * @param {(samples: number) => void} [parts.onProgress] called often with the number of samples committed so far
 * @param {AbortSignal} [parts.signal] ends the work before the next hour
 * @returns {Promise<{ samples: number }>} number of committed samples
 */
async function load({ store, write, fleet, set, onProgress = () => {}, signal }) {
  let samples = 0;
  const now = Date.now();
  await forEachConcurrently(AT_ONCE, fleet, (device) =>
    register(store.write.registry, device, { now, intervalMs: set.intervalMs }),
  );
  await forEachConcurrently(AT_ONCE, hoursOf(fleet, set), async ({ device, hour }) => {
    signal?.throwIfAborted();
    const sensors = device.sensors.map(({ name, bytes }) => ({
      sensor: bytes,
      series: samplesOfHour(set, { device: device.name, sensor: name }, hour),
    }));
    await write(device, hour, sensors);
    samples += sensors.reduce((sum, { series }) => sum + series.times.length, 0);
    onProgress(samples);
  });
  await forEachConcurrently(AT_ONCE, fleet, (device) => writeLatest(store, device, set));
  return { samples };
}

/** @param {LoadedDevice[]} fleet @param {DataSet} set the hours and devices, in order of time */
function* hoursOf(fleet, { from, to }) {
  for (let hour = from; hour < to; hour += HOUR_MS) for (const device of fleet) yield { device, hour };
}

/** @param {Store} store @param {LoadedDevice} device @param {DataSet} set */
async function writeLatest({ write }, { name, bytes, group, sensors }, set) {
  const newest = sensors.map((sensor) => {
    const { times, values } = samplesOfHour(set, { device: name, sensor: sensor.name }, set.to - HOUR_MS);
    const unknown = { bytes: sensor.bytes, ts: null, value: null };
    return { sensor: unknown, ts: Number(times.at(-1)), value: Number(values.at(-1)) };
  });
  await write.latest({ bytes, group, retiredAt: null }, newest);
}

/** @param {{ devices: number, sensors: number }} fleet @param {DataSet} set @returns {number} number of samples of the data set */
export const samplesIn = ({ devices, sensors }, { from, to, intervalMs }) =>
  devices * sensors * ((to - from) / HOUR_MS) * samplesPerHour(intervalMs);

/** @typedef {{ sensor: Buffer, series: Series }} SensorHour */

/**
 * Writes all samples of one device in one hour. The promise settles when the samples are committed.
 *
 * @callback HourWriter
 * @param {{ bytes: Buffer, group: number }} device
 * @param {number} hour epoch ms
 * @param {SensorHour[]} sensors
 * @returns {Promise<void>}
 */

/**
 * Creates a writer that writes an hour as the packer does: the samples before their statistics. The writer does not write
 * `pack_progress`. The progress of a group depends on all its devices, and only the packer knows all of them.
 *
 * @param {Store} store
 * @param {number} readFrom time at which the packer would have read the hour, in epoch ms
 * @returns {HourWriter}
 */
const createHistoryWriter =
  (store, readFrom) =>
  async ({ bytes: device }, hour, sensors) => {
    for (const { sensor, series } of sensors) {
      for (const samples of historyRows(hour, series)) {
        await store.write.history.writeSamples({ device, sensor }, [{ hour, samples }]);
      }
      await store.write.history.writeStatistics(
        { device, sensor },
        hour,
        hourStatisticsOf(series.values),
        readFrom,
      );
    }
  };

/**
 * Creates a writer that writes an hour as ingest does, for a device whose sensors all measure at the same times.
 *
 * @param {Store} store
 * @param {(hour: number) => number} arrival returns the commit time of the messages of an hour, epoch ms. The samples of messages
 *   that are late for their hour are also written into history
 * @returns {HourWriter}
 */
function createMessageWriter({ write }, arrival) {
  const retry = { run: (/** @type {() => Promise<any>} */ request) => request() };
  const clock = { now: Date.now };
  const late = createLateWriter({
    store: write.history,
    retry: /** @type {any} */ (retry),
    days: new LateDayNotes({ store: write.lateDays, retry: /** @type {any} */ (retry), clock }),
    arrivals: new LateArrivalNotes({ store: write.lateArrivals, retry: /** @type {any} */ (retry), clock }),
    onLate: () => {},
  });
  return async (device, hour, sensors) => {
    const longest = Math.max(...sensors.map(({ series }) => series.times.length));
    for (let from = 0; from < longest; from += BATCH) {
      const message = sensors.map(({ sensor, series: { times, values } }) => ({
        sensor,
        times: times.slice(from, from + BATCH),
        values: values.slice(from, from + BATCH),
      }));
      const hours = await write.samples({ bytes: device.bytes, sensors: { size: sensors.length } }, message);
      await late.write(device, hours, { began: arrival(hour), at: arrival(hour) });
    }
  };
}
