import { bucketOf, dayOf, LATE_MARGIN_MS, settlingOf } from '../../schema/rules.js';

/** What this process remembers to have noticed in the hour that runs; beyond, it is written again, which changes nothing. */
const MOST_REMEMBERED = 100_000;

/**
 * Notices days for which samples come when they have been packed for the second time, or may have been: nobody would come
 * for them again, and reading them would cost as much as before, for ever. Once an hour for each device and day.
 *
 * @param {object} parts
 * @param {import('../store/history/late-days.js').LateDayStore} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 */
export function createLateDayNotes({ store, patience }) {
  let hour = 0;
  /** @type {Set<string>} */
  let written = new Set();

  return {
    /**
     * @param {{ bytes: Buffer, group: number }} device
     * @param {number[]} hours epoch ms, that came late
     * @param {number} at epoch ms
     * @returns {Promise<void>} settles when they are committed
     */
    async note({ bytes, group }, hours, at) {
      const id = bytes.toString('hex');
      const noticed = bucketOf(at);
      if (noticed !== hour || written.size > MOST_REMEMBERED) {
        hour = noticed;
        written = new Set();
      }
      const days = [...new Set(hours.map(dayOf))].filter(
        (day) => at >= settlingOf(day) - LATE_MARGIN_MS && !written.has(`${id} ${day}`),
      );
      if (days.length === 0) return;
      const rows = days.map((day) => ({ device: bytes, day }));
      await patience.persist(() => store.write(group, noticed, rows));
      if (noticed === hour) for (const day of days) written.add(`${id} ${day}`);
    },
  };
}

/** @typedef {ReturnType<typeof createLateDayNotes>} LateDayNotes */
