/**
 * Puts aside what was refused: one letter a message, however many of its measurements are bad.
 *
 * @param {object} parts
 * @param {import('../store/dead-letters.js').DeadLetters} parts.store
 * @param {import('./patience.js').Patience} parts.patience
 * @param {import('../metrics.js').Metrics} parts.metrics
 */
export function createDeadLetterBox({ store, patience, metrics }) {
  return {
    /**
     * @param {import('./accept.js').Message} message
     * @param {string | null} device as the topic has it
     * @param {import('../store/dead-letters.js').Refusals} refused
     * @returns {Promise<void>} settles when the letter is committed
     */
    async put({ topic, contentType, payload, receivedAt }, device, refused) {
      if (refused.length === 0) return;
      for (const { code } of refused) metrics.refused.inc({ code });
      await patience.persist(() => store.write({ receivedAt, device, topic, contentType, payload, refused }));
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterBox>} DeadLetterBox */
