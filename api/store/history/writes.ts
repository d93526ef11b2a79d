import { digestOf } from '../../../schema/packed/pack.ts';
import type { HourStatistics } from '../../../schema/packed/statistics.ts';
import { float64, int32, int64, writeTimestamp } from '../cql-values.ts';
import type { Session } from '../sending/session.ts';
import { createDayStatistics } from './days.ts';
import { dayKey, type SensorKey, yearKey } from './keys.ts';
import type { SampleTimes } from './reads.ts';

/** `hour`: epoch ms of its start */
export type PackedHour = { hour: number; samples: Buffer };

const INSERT_SAMPLES =
  'INSERT INTO history (device_id, sensor_id, day, hour, digest, samples) VALUES (?, ?, ?, ?, ?, ?)';
const INSERT_STATISTICS = {
  name: 'write_statistics',
  cql: 'INSERT INTO history_stat (device_id, sensor_id, year, hour, count, min, max, sum, first, last, first_at, last_at, read_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const INSERT_LATE =
  'INSERT INTO history_stat (device_id, sensor_id, year, hour, late_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?';

const DELETE_SAMPLES =
  'DELETE FROM history USING TIMESTAMP ? WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour = ? AND digest = ?';

/**
 * Invariant: rows are only added, except that a packer deletes rows whose samples corrections hide. So no write deletes other samples that a
 * packer or a late message has written.
 */
export function createHistoryWrites(session: Session) {
  const days = createDayStatistics(session);
  return {
    writeSamples: (key: SensorKey, hours: PackedHour[]): Promise<unknown> =>
      session.writeBatch(
        'write_history',
        hours.map(({ hour, samples }) => ({
          query: INSERT_SAMPLES,
          params: [...dayKey(key, hour), int64(hour), digestOf(samples), samples],
        })),
      ),

    /** A row that was written after `at` (epoch ms) stays. */
    deleteSamples: (key: SensorKey, hour: number, digests: Buffer[], at: number): Promise<unknown> =>
      session.writeBatch(
        'delete_history',
        digests.map((digest) => ({
          query: DELETE_SAMPLES,
          params: [writeTimestamp(at), ...dayKey(key, hour), int64(hour), digest],
        })),
      ),

    /**
     * @param statistics statistics of all samples of the hour in history
     * @param readFrom epoch ms at which the read of the samples began; of two writes, the later read wins
     */
    writeStatistics: (
      key: SensorKey,
      hour: number,
      { count, min, max, sum, first, last, firstAt, lastAt }: HourStatistics & Partial<SampleTimes>,
      readFrom: number,
    ) =>
      session.write(INSERT_STATISTICS, [
        ...yearKey(key, hour),
        int64(hour),
        int32(count),
        ...[min, max, sum, first, last].map(float64),
        firstAt === undefined ? undefined : int64(firstAt),
        lastAt === undefined ? undefined : int64(lastAt),
        writeTimestamp(readFrom),
        writeTimestamp(readFrom),
      ]),

    /**
     * Marks hours that got late samples, so that readers do not trust their statistics and the packer packs them again.
     * @param hours epoch ms, all of one UTC year
     * @returns settles when the marks are committed to `history_stat` and `day_stat`
     */
    writeLate: (key: SensorKey, hours: number[], lateAt: number): Promise<unknown> =>
      Promise.all([
        days.writeLate(key, hours, lateAt),
        session.writeBatch(
          'write_late',
          hours.map((hour) => ({
            query: INSERT_LATE,
            params: [...yearKey(key, hour), int64(hour), writeTimestamp(lateAt), writeTimestamp(lateAt)],
          })),
        ),
      ]),

    writeDay: days.write,
  };
}

export type HistoryWrites = ReturnType<typeof createHistoryWrites>;
