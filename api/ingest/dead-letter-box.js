import { createDeadLetterQuota } from './dead-letter-quota.js';

/**
 * Puts aside what was refused: one letter a message, however many of its measurements are bad; beyond a device's quota
 * one letter a minute that only counts.
 *
 * @param {object} parts
 * @param {import('../store/dead-letters.js').DeadLetters} parts.store
 * @param {import('./patience.js').Patience} parts.patience
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createDeadLetterBox({ store, patience, metrics }) {
  const quota = createDeadLetterQuota();

  return {
    /**
     * @param {import('./accept.js').Message} message
     * @param {string} device as the topic has it
     * @param {import('../store/dead-letters.js').Refusals} refused
     * @returns {Promise<void>} settles when the letter is committed
     */
    async put({ topic, contentType, payload, receivedAt }, device, refused) {
      if (refused.length === 0) return;
      for (const { code } of refused) metrics.refused.inc({ code });
      const { verdict, codes } = quota.take(device, receivedAt, countCodes(refused));
      if (verdict === 'none') return;
      const letter = { receivedAt, device, topic, codes };
      const content = verdict === 'whole' ? { contentType, payload, refused } : null;
      await patience.persist(() => store.write({ ...letter, content }));
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterBox>} DeadLetterBox */

/** @param {import('../store/dead-letters.js').Refusals} refused @returns {Record<string, number>} */
function countCodes(refused) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { code } of refused) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
