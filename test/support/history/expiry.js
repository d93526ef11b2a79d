import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';

/** Batches expire so long after their commit, in ms: after the second pass over their hour, as BATCH_DAYS of 4 or more. */
const BATCHES_KEPT_MS = 4 * DAY_MS;

/**
 * Lets batches expire, by deleting what was written until some days ago: the database's own clock cannot be held.
 *
 * @param {object} parts
 * @param {import('./virtual-time.js').VirtualTime} parts.time
 * @param {import('cassandra-driver').Client} parts.database
 * @param {import('./world.js').World} parts.world
 */
export function createExpiry({ time, database, world }) {
  /** What the clock on the wall showed when the held one showed `at`. @type {Array<{ at: number, wall: number }>} */
  const marks = [];

  return {
    async expire() {
      marks.push({ at: time.now, wall: Date.now() });
      const mark = marks.findLast(({ at }) => at <= time.now - BATCHES_KEPT_MS);
      if (!mark) return;
      for (const { id } of world.devices) {
        for (let hour = world.start - 3 * HOUR_MS; hour < world.start + 12 * HOUR_MS; hour += HOUR_MS) {
          await database.execute(
            'DELETE FROM measurement_batch USING TIMESTAMP ? WHERE device_id = ? AND bucket = ?',
            [mark.wall * 1000, id, new Date(hour)],
            { prepare: true },
          );
        }
      }
    },
  };
}
