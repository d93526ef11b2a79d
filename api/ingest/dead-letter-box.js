import { LRUCache } from 'lru-cache';
import { MillraceError } from '../../common/errors.js';
import { identifyDevice } from '../../schema/ids.js';
import { bucketOf } from '../../schema/rules.js';

/** @import { Metrics } from '../observability/metrics.js' */
/** @import { DeadLetter, DeadLetterWrites, Refusals } from '../store/dead-letters/writes.js' */
/** @import { Retry } from '../store/retry.js' */
/** @import { Message } from './pipeline.js' */
/** @import { RefusalNotices } from './refusal-notices.js' */
/** @import { Registry } from './registry/index.js' */

/**
 * Stores refused messages as dead letters: one dead letter per message with all its refusals. Above the quota of a device it stores one
 * dead letter a minute, with counts only.
 *
 * @param {object} deps
 * @param {DeadLetterWrites} deps.store
 * @param {Registry} deps.registry
 * @param {Retry} deps.retry
 * @param {RefusalNotices} deps.notices
 * @param {Metrics} deps.metrics
 * @param {DeadLetterQuota} [deps.quota]
 */
export function createDeadLetterBox(deps) {
  const { store, registry, retry, notices, metrics, quota = createDeadLetterQuota() } = deps;

  /**
   * @param {string} device id or name from the topic
   * @returns {string | null} id; null: the device is not in the cache of registered devices
   */
  function registeredId(device) {
    const identity = identifyDevice(device);
    return identity && registry.cache.peek(identity.id) ? identity.id : null;
  }

  /** @param {DeadLetter} deadLetter */
  async function write(deadLetter) {
    try {
      await retry.run(() => store.write(deadLetter));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected' || !deadLetter.content) throw error;
      // The database refuses the content, so only the counts are stored. An unacknowledged message would come again forever.
      await retry.run(() => store.write({ ...deadLetter, content: null }));
    }
  }

  return {
    /**
     * @param {Message} message
     * @param {string} device id or name from the topic
     * @param {Refusals} refused
     * @returns {Promise<void>} settles when the dead letter is committed
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
      const isWhole = verdict === 'whole';
      await write({
        receivedAt,
        // Counts of all unregistered devices together belong to none of them.
        device: isWhole || account ? device : undefined,
        topic,
        codes,
        content: isWhole ? { contentType, payload, refused } : null,
      });
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterBox>} DeadLetterBox */

/** @param {Refusals} refused @returns {Record<string, number>} */
function countCodes(refused) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { code } of refused) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

const MINUTE_MS = 60_000;

/**
 * Dead letters that a process stores per hour: of one device, of all unregistered devices together, and in total. `counting`: those
 * with counts only, in total per minute.
 */
const LIMITS = { perDevice: 1000, unregistered: 10_000, total: 100_000, counting: 100 };

/** Devices whose dead letters are counted. An evicted device starts at 0 again, within the total limit. */
const MAX_DEVICES = 10_000;

/** @typedef {'whole' | 'counts' | 'none'} Verdict `counts`: a dead letter without the payload; `none`: the next one counts it */

/**
 * Bounds the number of dead letters, because a broken device must not fill the disk. Above the limit one dead letter a minute contains
 * the counts of all refusals since the last.
 *
 * Unregistered devices and invalid names share one account, because a client can invent any number of names.
 *
 * @param {{ limits?: typeof LIMITS }} [options]
 */
export function createDeadLetterQuota({ limits = LIMITS } = {}) {
  /** @typedef {{ stored: number, countedAt: number, pending: Record<string, number> }} Account `pending`: refusals that no dead letter counts yet */
  const open = () => /** @type {Account} */ ({ stored: 0, countedAt: 0, pending: {} });
  const unregistered = open();
  /** @type {LRUCache<string, Account>} */
  const devices = new LRUCache({ max: MAX_DEVICES, memoMethod: open });
  const inHour = { began: 0, stored: 0 };
  const inMinute = { began: 0, counting: 0 };

  /** Resets the counts at the start of an hour or minute. @param {number} now epoch ms */
  function reset(now) {
    if (bucketOf(now) !== inHour.began) {
      Object.assign(inHour, { began: bucketOf(now), stored: 0 });
      for (const account of [unregistered, ...devices.values()]) account.stored = 0;
    }
    const minute = now - (now % MINUTE_MS);
    if (minute !== inMinute.began) Object.assign(inMinute, { began: minute, counting: 0 });
  }

  return {
    /**
     * @param {string | null} device id of a registered device; null: it is not registered
     * @param {number} receivedAt epoch ms
     * @param {Record<string, number>} codes refused measurements of this message, by code
     * @returns {{ verdict: Verdict, codes: Record<string, number> }} `codes`: the counts for the dead letter
     */
    take(device, receivedAt, codes) {
      reset(receivedAt);
      const account = device === null ? unregistered : devices.memo(device);
      const limit = device === null ? limits.unregistered : limits.perDevice;
      if (account.stored < limit && inHour.stored < limits.total) {
        account.stored++;
        inHour.stored++;
        return { verdict: 'whole', codes };
      }
      for (const [code, count] of Object.entries(codes)) {
        account.pending[code] = (account.pending[code] ?? 0) + count;
      }
      const isRecent = Math.abs(receivedAt - account.countedAt) < MINUTE_MS;
      if (isRecent || inMinute.counting >= limits.counting) return { verdict: 'none', codes };
      inMinute.counting++;
      const all = account.pending;
      Object.assign(account, { countedAt: receivedAt, pending: {} });
      return { verdict: 'counts', codes: all };
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterQuota>} DeadLetterQuota */
