import { MAX_STATEMENTS_PER_BATCH } from '../../../schema/rules.js';
import { int64 } from '../cells.js';

const INSERT = 'INSERT INTO late_day (grp, noticed, device_id, day) VALUES (?, ?, ?, ?)';
const SELECT = {
  name: 'read_late_days',
  cql: 'SELECT device_id, day FROM late_day WHERE grp = ? AND noticed = ?',
};

/** @typedef {{ device: Buffer, day: number }} LateDay `device`: 16 bytes; `day`: epoch ms of its start */

/** Days to be packed once more. @param {import('../session.js').Session} session */
export function createLateDays(session) {
  return {
    /**
     * @param {number} group of the device
     * @param {number} noticed epoch ms, the hour in which they came late
     * @param {LateDay[]} days
     */
    async write(group, noticed, days) {
      for (let from = 0; from < days.length; from += MAX_STATEMENTS_PER_BATCH) {
        const some = days.slice(from, from + MAX_STATEMENTS_PER_BATCH);
        await session.writeBatch('write_late_days', () =>
          some.map(({ device, day }) => ({
            query: INSERT,
            params: [group, int64(noticed), device, int64(day)],
          })),
        );
      }
    },

    /**
     * @param {number} group
     * @param {number} noticed epoch ms
     * @param {string} [after]
     * @returns {Promise<import('./unpacked.js').Page<LateDay>>}
     */
    async page(group, noticed, after) {
      const { rows, next } = await session.page(SELECT, [group, int64(noticed)], after);
      const items = rows.map((row) => ({ device: row['device_id'].getBuffer(), day: row['day'].getTime() }));
      return { items, next };
    },
  };
}

/** @typedef {ReturnType<typeof createLateDays>} LateDayStore */
