import { int32 } from '../../../api/store/cql-encoding.js';
import { PendingLatest } from '../../../api/store/latest/writes.js';
import { encodeHour, planHours } from '../../../api/store/measurements/hours.js';
import { DevicePartitions } from '../../../api/store/measurements/writes.js';
import { Partition } from '../../../api/store/sending/pending-rows.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { bucketOf, HOUR_MS, SERIES_BYTES, TIME_BYTES } from '../../../schema/rules.js';
import { deviceName, STEP_MS, sensorName } from '../load/payloads.js';
import { batchEntry, placeOf, rowsFrame } from './protocol.js';

/** @import { LatestUpdate } from '../../../api/store/latest/writes.js' */
/** @import { SensorSeries } from '../../../api/store/measurements/hours.js' */
/** @import { Query } from '../../../api/store/sending/session.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Shape } from '../load/shapes.js' */

/** Which parameters of our statements change from message to message. */
const ROW = { bucket: 1, ts: 3, digest: 4, samples: 5 };
const UPDATE = { stamp: 0, newest: 1 };

/** In a block the times follow a version byte and the first sensor's header. The other sensors share them: see schema/packed/block.js. */
const TIMES_AT = 1 + SERIES_BYTES;

/** In the map of newest values: its count, then 48 bytes a sensor, the time 28 bytes after their beginning. See api/store/latest/writes.js. */
const ENTRIES_AT = 4;
const ENTRY_BYTES = 48;
const ENTRY_TIME_AT = 28;

/**
 * The frames of a device, encoded once. Only times and digests change in them.
 *
 * @param {Shape} shape
 * @param {number} number of the device
 * @param {object} options
 * @param {number} options.groups `LATEST_GROUPS`
 * @param {(cql: string) => Promise<Buffer>} options.prepare gives a statement's id
 */
export async function createTemplate({ sensors, samples }, number, { groups, prepare }) {
  const { id, bytes: device } = /** @type {Identity} */ (identifyDevice(deviceName(number)));
  const group = groupOf(device, groups);
  const series = Array.from({ length: sensors }, (_, at) => ({
    sensor: /** @type {Buffer} */ (identifySensor(id, sensorName(at))?.bytes),
    times: Array.from({ length: samples }, (__, sample) => HOUR_MS + sample * STEP_MS),
    values: Array.from({ length: samples }, (__, sample) => 20 + (((number + at + sample) * 7) % 1000) / 100),
  }));
  const statements = createStatements();
  const rows = statements.rows(device, series);
  const newest = new Map(
    series.map(({ sensor, values }) => [sensor, { ts: HOUR_MS, value: Number(values.at(-1)) }]),
  );
  const updates = statements.updates(group, { device, newest, retiredAt: null });

  /** @param {Query[]} queries */
  const valuesOf = (queries) => queries.map(({ params }) => /** @type {Buffer[]} */ (params));
  const rowValues = valuesOf(rows);
  const frame = rowsFrame(await prepare(String(rows[0]?.query)), rowValues);
  const places = rowValues.map((values, row) => {
    const at = Number(frame.valuesAt[row]);
    return {
      bucket: at + placeOf(values, ROW.bucket),
      ts: at + placeOf(values, ROW.ts),
      digest: at + placeOf(values, ROW.digest),
      times: at + placeOf(values, ROW.samples) + TIMES_AT,
    };
  });
  const updateId = await prepare(String(updates[0]?.query));
  const entries = valuesOf(updates).map((values) => {
    const entry = batchEntry(updateId, values);
    return {
      bytes: entry.bytes,
      stamp: entry.valuesAt + placeOf(values, UPDATE.stamp),
      newest: entry.valuesAt + placeOf(values, UPDATE.newest) + ENTRIES_AT + ENTRY_TIME_AT,
    };
  });
  let digest = 0;

  return {
    group,

    /** @param {number} time epoch ms of the first sample @returns {Buffer} the frame that writes the rows */
    rows(time) {
      const bytes = Buffer.from(frame.bytes);
      // Ours cuts a message at the hour; here one that crosses it is moved in front of it.
      const first = Math.min(time, bucketOf(time) + HOUR_MS - samples * STEP_MS);
      const bucket = bucketOf(first);
      for (const place of places) {
        writeMs(bytes, place.bucket, bucket);
        writeMs(bytes, place.ts, first + (samples - 1) * STEP_MS);
        bytes.writeUInt32BE(number, place.digest);
        bytes.writeUInt32BE(digest++ >>> 0, place.digest + 4);
        for (let at = 0; at < samples; at++) {
          bytes.writeUInt32LE(first - bucket + at * STEP_MS, place.times + at * TIME_BYTES);
        }
      }
      return bytes;
    },

    /** @param {number} time epoch ms of the first sample @returns {Buffer[]} entries of a BATCH that updates `latest` */
    updates(time) {
      const last = time + (samples - 1) * STEP_MS;
      return entries.map((entry) => {
        const bytes = Buffer.from(entry.bytes);
        writeMs(bytes, entry.stamp, last * 1000);
        for (let at = 0; at < sensors; at++) writeMs(bytes, entry.newest + at * ENTRY_BYTES, last);
        return bytes;
      });
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof createTemplate>>} Template */

/** @param {Buffer} bytes @param {number} at @param {number} number a whole one, up to 2^53, as 8 bytes */
function writeMs(bytes, at, number) {
  bytes.writeUInt32BE(Math.floor(number / 2 ** 32), at);
  bytes.writeUInt32BE(number % 2 ** 32, at + 4);
}

/**
 * The requests of our own store, without sending them. So the native baseline writes the very same batches.
 *
 * @returns {{ rows: (device: Buffer, series: SensorSeries[]) => Query[], updates: (group: number, update: LatestUpdate) => Query[] }}
 */
function createStatements() {
  const partitions = new DevicePartitions();
  return {
    rows(device, series) {
      const [hour, ...more] = planHours(series, 1);
      if (!hour || more.length > 0) throw new Error('the samples of a template are of one hour');
      return encodeHour(partitions.find(device, hour.bucket, hour.part), hour);
    },
    updates: (group, update) => new PendingLatest(new Partition(int32(group)), update).encode(),
  };
}
