import { uuidText } from '../../../schema/ids.js';
import { int64, writeTimestamp } from '../cql-encoding.js';

/** @import { Session } from '../sending/session.js' */
/** @import { SensorBytes } from './keys.js' */

/** Number of floats in a profile: mean and deviation of each of the 24 hours of a day. */
export const PROFILE_FLOATS = 48;

/** Rows per batch. A row has some 230 bytes, so a batch stays below the 5 KiB at which Cassandra warns. */
const ROWS_PER_BATCH = 20;

const INSERT = 'INSERT INTO baseline (grp, day, device_id, sensor_id, hours) VALUES (?, ?, ?, ?, ?)';
const SELECT = {
  name: 'read_baselines',
  cql: 'SELECT device_id, sensor_id, hours FROM baseline WHERE grp = ? AND day = ?',
  // The driver decodes a page of 1,000 rows in about 5 ms.
  fetchSize: 1000,
};
const SELECT_PROGRESS = {
  name: 'read_baseline_progress',
  cql: 'SELECT learned_until FROM baseline_progress WHERE grp = ?',
};
const WRITE_PROGRESS = {
  name: 'write_baseline_progress',
  cql: 'UPDATE baseline_progress USING TIMESTAMP ? SET learned_until = ? WHERE grp = ?',
};

/** A sensor's baseline for one day. @typedef {SensorBytes & { profile: Float32Array }} LearnedProfile `profile`: `PROFILE_FLOATS` numbers */

/** @typedef {{ key: string, profile: Float32Array }} StoredProfile `key`: `device id/sensor id` */

/**
 * Creates the store of baselines: the usual values of sensors for each hour of a day.
 *
 * @param {Session} session
 */
export function createBaselineStore(session) {
  return {
    /**
     * @param {number} group group of the devices
     * @param {number} day epoch ms of the day's start
     * @param {LearnedProfile[]} profiles
     */
    async write(group, day, profiles) {
      for (let from = 0; from < profiles.length; from += ROWS_PER_BATCH) {
        const some = profiles.slice(from, from + ROWS_PER_BATCH);
        await session.writeBatch(
          'write_baselines',
          some.map(({ device, sensor, profile }) => ({
            query: INSERT,
            params: [group, int64(day), device, sensor, profileBytes(profile)],
          })),
        );
      }
    },

    /**
     * @param {number} group
     * @param {number} day epoch ms of the day's start
     * @returns {AsyncGenerator<StoredProfile[], void>}
     */
    async *pages(group, day) {
      for await (const rows of session.pages(SELECT, [group, int64(day)])) {
        yield rows.map((row) => ({
          key: `${uuidText(row['device_id'].getBuffer())}/${uuidText(row['sensor_id'].getBuffer())}`,
          profile: profileOf(row['hours']),
        }));
      }
    },

    /**
     * @param {number} group
     * @returns {Promise<number | null>} epoch ms before which all days are learned; null: no day is learned
     */
    async learnedUntil(group) {
      const row = await session.one(SELECT_PROGRESS, [group]);
      return row?.['learned_until']?.getTime() ?? null;
    },

    /**
     * Stores the progress of learning. The write timestamp is `until` itself. So if two processes learn a group, the
     * database keeps the later progress.
     *
     * @param {number} group
     * @param {number} until epoch ms before which all days are learned
     */
    writeLearned: (group, until) =>
      session.write(WRITE_PROGRESS, [writeTimestamp(until), int64(until), group]),
  };
}

/** @typedef {ReturnType<typeof createBaselineStore>} BaselineStore */

/** @param {Float32Array} profile @returns {Buffer} */
function profileBytes(profile) {
  const bytes = Buffer.allocUnsafe(4 * PROFILE_FLOATS);
  for (let index = 0; index < PROFILE_FLOATS; index++) bytes.writeFloatBE(Number(profile[index]), 4 * index);
  return bytes;
}

/** @param {Buffer} bytes @returns {Float32Array} */
function profileOf(bytes) {
  const profile = new Float32Array(PROFILE_FLOATS);
  for (let index = 0; index < PROFILE_FLOATS; index++) profile[index] = bytes.readFloatBE(4 * index);
  return profile;
}
