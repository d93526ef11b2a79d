import { historyRows } from '../../../api/history/packing/sensor-hour.js';
import { createLateDayNotes, createLateWriter } from '../../../api/ingest/late-writer.js';
import { hourStatisticsOf } from '../../../schema/packed/statistics.js';
import { partsFor } from '../../../schema/rules.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Series } from '../../../schema/packed/series.js' */

/** @typedef {{ sensor: Buffer, series: Series }} SensorHour */

/**
 * Writes all that a device's sensors have measured in one hour; settles when it is committed.
 *
 * @callback HourWriter
 * @param {{ bytes: Buffer, group: number }} device
 * @param {number} hour epoch ms
 * @param {SensorHour[]} sensors
 * @returns {Promise<void>}
 */

/**
 * As a packer writes that reads the hour now: the samples first, then what is known of all of them. Nothing is written
 * into `pack_progress`: how far the devices of a group are packed depends on all of them, and only the packer knows.
 *
 * @param {Store} store
 * @param {number} readFrom epoch ms
 * @returns {HourWriter}
 */
export const createHistoryWriter =
  (store, readFrom) =>
  async ({ bytes: device }, hour, sensors) => {
    for (const { sensor, series } of sensors) {
      for (const samples of historyRows(hour, series)) {
        await store.history.writeSamples({ device, sensor }, [{ hour, samples }]);
      }
      await store.history.writeStatistics(
        { device, sensor },
        hour,
        hourStatisticsOf(series.values),
        readFrom,
      );
    }
  };

/**
 * As ingest writes messages of a device that has all of its sensors measure at once.
 *
 * @param {Store} store
 * @param {object} options
 * @param {number} options.samples of each sensor in a message
 * @param {(hour: number) => number} options.arrival when the messages of an hour are committed, epoch ms: what is late for
 *   its hour then goes into history, too
 * @returns {HourWriter}
 */
export function createMessageWriter({ measurements, history, lateDays }, { samples, arrival }) {
  const retry = { run: (/** @type {() => Promise<any>} */ request) => request() };
  const late = createLateWriter({
    store: history,
    retry: /** @type {any} */ (retry),
    days: createLateDayNotes({ store: lateDays, retry: /** @type {any} */ (retry) }),
    onLate: () => {},
  });
  return async (device, hour, sensors) => {
    const longest = Math.max(...sensors.map(({ series }) => series.times.length));
    for (let from = 0; from < longest; from += samples) {
      const message = sensors.map(({ sensor, series: { times, values } }) => ({
        sensor,
        times: times.slice(from, from + samples),
        values: values.slice(from, from + samples),
      }));
      const parts = partsFor(sensors.length);
      const hours = measurements.plan(message, parts);
      for (const part of hours)
        await measurements.commit(device.bytes, part, () => measurements.encode(device.bytes, part));
      if (parts > 1) await measurements.writeParts(device.bytes, hour, parts);
      await late.write(device, hours, arrival(hour));
    }
  };
}
