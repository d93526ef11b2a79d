import { MillraceError } from '../../common/errors.js';
import { identifyDevice } from '../../schema/ids.js';
import { createDeadLetterQuota } from './dead-letter-quota.js';

/**
 * Puts aside what was refused: one letter a message, however many of its measurements are bad; beyond a device's quota
 * one letter a minute that only counts.
 *
 * @param {object} parts
 * @param {import('../store/dead-letters/writes.js').DeadLetterWrites} parts.store
 * @param {import('./registry/index.js').Registry} parts.registry
 * @param {import('../store/retry.js').Patience} parts.patience
 * @param {import('./refusal-notices.js').RefusalNotices} parts.notices
 * @param {import('../observability/metrics.js').Metrics} parts.metrics
 * @param {import('./dead-letter-quota.js').DeadLetterQuota} [parts.quota]
 */
export function createDeadLetterBox(parts) {
  const { store, registry, patience, notices, metrics, quota = createDeadLetterQuota() } = parts;

  /**
   * @param {string} device as the topic has it
   * @returns {string | null} id; null: nobody has registered it, as far as this can be told without asking the database
   */
  function registeredId(device) {
    const identity = identifyDevice(device);
    return identity && registry.cache.peek(identity.id) ? identity.id : null;
  }

  /** @param {import('../store/dead-letters/writes.js').DeadLetter} letter */
  async function write(letter) {
    try {
      await patience.persist(() => store.write(letter));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected' || !letter.content) throw error;
      // A database that does not take the message takes its counts: unacknowledged, it would come again for ever.
      await patience.persist(() => store.write({ ...letter, content: null }));
    }
  }

  return {
    /**
     * @param {import('./pipeline.js').Message} message
     * @param {string} device as the topic has it
     * @param {import('../store/dead-letters/writes.js').Refusals} refused
     * @returns {Promise<void>} settles when the letter is committed
     */
    async put({ topic, contentType, payload, receivedAt }, device, refused) {
      const [first] = refused;
      if (!first) return;
      for (const { code } of refused) metrics.refused.inc({ code });
      const counts = countCodes(refused);
      notices.refused(topic, counts, first);
      const account = registeredId(device);
      const { verdict, codes } = quota.take(account, receivedAt, counts);
      if (verdict === 'none') return;
      const whole = verdict === 'whole';
      const letter = {
        receivedAt,
        // What counts for all strangers together is of none of them.
        device: whole || account ? device : undefined,
        topic,
        codes,
        content: whole ? { contentType, payload, refused } : null,
      };
      await write(letter);
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterBox>} DeadLetterBox */

/** @param {import('../store/dead-letters/writes.js').Refusals} refused @returns {Record<string, number>} */
function countCodes(refused) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { code } of refused) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
