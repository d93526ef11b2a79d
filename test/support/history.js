import cassandra from 'cassandra-driver';
import { groupOf, identifyDevice, identifySensor } from '../../schema/ids.js';
import { packSamples } from '../../schema/packed/pack.js';
import { greaterValue, mergeSeries } from '../../schema/packed/series.js';
import { bucketOf, closingOf, dayOf, HOUR_MS } from '../../schema/rules.js';
import { until } from './until.js';

/** @import { Identity } from '../../schema/ids.js' */
/** @import { TestSystem } from './system.js' */

/** @typedef {[ts: number, value: number]} Sample `ts` in epoch ms */

function nextMillisecond() {
  const now = Date.now();
  return until(() => Date.now() > now, { what: 'the next millisecond' });
}

/** @param {Buffer} bytes */
const uuid = (bytes) => new cassandra.types.Uuid(bytes);

/**
 * A hand on the history of a system: hours are packed when a test says so, and what a reader must not need is taken away.
 *
 * @param {TestSystem} system
 */
export async function openHistory(system) {
  const store = await system.openStore();
  const database = await system.openDatabase();
  const { latestGroups } = system.config.retention;

  /** @param {string} deviceName @param {string} sensorName */
  function sensorOf(deviceName, sensorName) {
    const device = /** @type {Identity} */ (identifyDevice(deviceName));
    const sensor = /** @type {Identity} */ (identifySensor(device.id, sensorName));
    return { group: groupOf(device.bytes, latestGroups), device: device.bytes, sensor: sensor.bytes };
  }

  /**
   * Deletes as the test and writes as the application carry the times of two clients. A delete wins over a write of the same
   * microsecond, so a delete has its millisecond for itself: without this, 7 % of the rows written right after one were missing.
   *
   * @param {string} statement
   * @param {unknown[]} values
   */
  async function erase(statement, values) {
    await nextMillisecond();
    await database.execute(statement, values);
    await nextMillisecond();
  }

  return {
    store,
    sensorOf,

    /** Nothing before it is looked for where history has no row. @param {number} until epoch ms */
    async packedUntil(until) {
      for (let group = 0; group < latestGroups; group++) await store.packProgress.writePacked(group, until);
    },

    /**
     * Packs an hour as the packer does: all that batches and history have of it.
     *
     * @param {ReturnType<typeof sensorOf>} sensor
     * @param {number} hour epoch ms
     * @param {number} [readFrom] epoch ms
     */
    async pack(sensor, hour, readFrom = closingOf(hour)) {
      const batches = await store.samples.readHour(sensor.device, sensor.sensor, hour);
      const { times, values } = mergeSeries([batches, ...(await store.packed.readHour(sensor, hour))]);
      if (times.length === 0) return;
      await store.history.writeSamples(sensor, [
        { hour, samples: packSamples(hour, times, values, 0, times.length) },
      ]);
      await store.history.writeStatistics(sensor, hour, statisticsOf(Array.from(values)), readFrom);
    },

    /** The batches of these hours expire. @param {ReturnType<typeof sensorOf>} sensor @param {number[]} hours epoch ms */
    async dropBatches({ device }, hours) {
      for (const hour of hours) {
        await erase('DELETE FROM message WHERE device_id = ? AND bucket = ? AND part = 0', [
          uuid(device),
          new Date(hour),
        ]);
      }
    },

    /** @param {ReturnType<typeof sensorOf>} sensor @param {number} hour epoch ms */
    async dropPacked({ device, sensor }, hour) {
      await erase('DELETE FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour = ?', [
        uuid(device),
        uuid(sensor),
        new Date(dayOf(hour)),
        new Date(hour),
      ]);
    },

    async close() {
      await store.close();
      await database.shutdown();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openHistory>>} History */

/** @param {number[]} values of an hour, in order of time */
const statisticsOf = (values) => ({
  count: values.length,
  min: values.reduce((a, b) => Math.min(a, b)),
  max: values.reduce((a, b) => Math.max(a, b)),
  sum: values.reduce((a, b) => a + b),
  first: Number(values[0]),
  last: Number(values.at(-1)),
});

/** By brute force, what there is of samples that were sent: one an instant, by time. @param {Sample[]} samples @returns {Sample[]} */
export function unionOf(samples) {
  /** @type {Map<number, number>} */
  const values = new Map();
  for (const [ts, value] of samples) {
    const known = values.get(ts);
    values.set(ts, known === undefined ? value : greaterValue(known, value));
  }
  return [...values].sort(([a], [b]) => a - b);
}

/** What one hour of the mixed sensor below has been through. @typedef {'packed' | 'packed, then late' | 'late alone' | 'batches' | 'nothing'} Fate */

/** @type {Fate[]} */
export const FATES = ['packed', 'packed, then late', 'late alone', 'batches', 'nothing'];

/**
 * Lays down hours that have been through different things, in the order in which things happen: what comes in time, the
 * packer, what comes late, the expiry of batches. `batches` is for hours after all that are packed.
 *
 * @param {object} options
 * @param {History} options.history
 * @param {(samples: Sample[]) => Promise<unknown>} options.send one message
 * @param {{ now: number }} options.clock the system's, set as time goes by
 * @param {ReturnType<History['sensorOf']>} options.sensor
 * @param {Array<{ hour: number, fate: Fate, samples: Sample[] }>} options.hours in order of time; of `packed, then late` the odd ones come late
 */
export async function layDown({ history, send, clock, sensor, hours }) {
  const end = Math.max(...hours.map(({ hour }) => hour)) + HOUR_MS;
  const timely = ['packed', 'packed, then late', 'batches'];
  for (const { hour, fate, samples } of hours) {
    clock.now = hour + HOUR_MS;
    const now = samples.filter((_, at) => fate !== 'packed, then late' || at % 2 === 0);
    if (timely.includes(fate) && now.length > 0) await send(now);
  }
  for (const { hour, fate } of hours) {
    if (fate.startsWith('packed')) await history.pack(sensor, hour);
  }
  const firstUnpacked = hours.find(({ fate }) => fate === 'batches')?.hour ?? end;
  await history.packedUntil(bucketOf(firstUnpacked));
  clock.now = end + 3 * HOUR_MS;
  for (const { fate, samples } of hours) {
    const late = samples.filter((_, at) => fate !== 'packed, then late' || at % 2 === 1);
    if (!timely.includes(fate) || fate === 'packed, then late') {
      if (late.length > 0) await send(late);
    }
  }
  await history.dropBatches(
    sensor,
    hours.filter(({ fate }) => fate !== 'batches').map(({ hour }) => hour),
  );
}
