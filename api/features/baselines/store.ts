import { uuidText } from '../../../schema/ids.ts';
import type { SensorKey } from '../../store/history/keys.ts';
import { int64, writeTimestamp } from '../../store/index.ts';
import type { Session } from '../../store/sending/session.ts';

/** mean and deviation of each of the 24 hours of a day */
export const PROFILE_FLOATS = 48;

/** A row has some 230 bytes, so a batch stays below the 5 KiB at which Cassandra warns. */
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

/** `profile`: `PROFILE_FLOATS` numbers */
export type LearnedProfile = SensorKey & { profile: Float32Array };

type StoredProfile = { key: string; profile: Float32Array };

export function createBaselineStore(session: Session) {
  return {
    async write(group: number, day: number, profiles: LearnedProfile[]) {
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

    async *pages(group: number, day: number): AsyncGenerator<StoredProfile[], void> {
      for await (const rows of session.pages(SELECT, [group, int64(day)])) {
        yield rows.map((row) => ({
          key: `${uuidText(row['device_id'].getBuffer())}/${uuidText(row['sensor_id'].getBuffer())}`,
          profile: profileOf(row['hours']),
        }));
      }
    },

    async learnedUntil(group: number): Promise<number | null> {
      const row = await session.one(SELECT_PROGRESS, [group]);
      return row?.['learned_until']?.getTime() ?? null;
    },

    /** The write timestamp is `until` itself. So if two processes learn a group, the database keeps the later progress. */
    writeLearned: (group: number, until: number) =>
      session.write(WRITE_PROGRESS, [writeTimestamp(until), int64(until), group]),
  };
}

function profileBytes(profile: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 * PROFILE_FLOATS);
  for (let index = 0; index < PROFILE_FLOATS; index++) bytes.writeFloatBE(Number(profile[index]), 4 * index);
  return bytes;
}

function profileOf(bytes: Buffer): Float32Array {
  const profile = new Float32Array(PROFILE_FLOATS);
  for (let index = 0; index < PROFILE_FLOATS; index++) profile[index] = bytes.readFloatBE(4 * index);
  return profile;
}

export type BaselineStore = ReturnType<typeof createBaselineStore>;
