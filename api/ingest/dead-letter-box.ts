import { LRUCache } from 'lru-cache';
import { MillraceError } from '../../common/errors.js';
import { identifyDevice, uuidText } from '../../schema/ids.js';
import { bucketOf } from '../../schema/rules.js';
import { storedForm } from '../store/index.js';

/** @import { Metrics } from '../observability/metrics.js' */
/** @import { DeadLetter, DeadLetterWrites, Refusals } from '../store/dead-letters/writes.js' */
/** @import { Retry } from '../store/sending/retry.js' */
/** @import { Outbox } from './outbox.js' */
/** @import { Message } from './pipeline.js' */
/** @import { RefusalNotices } from './refusal-notices.js' */
/** @import { Registry } from './registry/index.js' */

/**
 * Creates the store of dead letters. A refused message becomes one dead letter with all its refusals. Above the quota of a device, one dead
 * letter a minute is stored, with counts only.
 *
 * @param {object} deps
 * @param {DeadLetterWrites} deps.store
 * @param {Registry} deps.registry
 * @param {Retry} deps.retry
 * @param {RefusalNotices} deps.notices
 * @param {Metrics} deps.metrics
 * @param {() => number} deps.clock epoch ms
 * @param {DeadLetterQuota} [deps.quota]
 * @param {Outbox | null} [deps.outbox] outbox of the Kafka stream; default: no dead letter is sent to Kafka
 * @param {number} [deps.groups] `LATEST_GROUPS`, the number of groups into which the outbox is divided
 */
export function createDeadLetterBox(deps) {
  const { store, registry, retry, notices, metrics, clock, quota = new DeadLetterQuota() } = deps;
  const { outbox = null, groups = 1 } = deps;

  /**
   * @param {string} device id or name from the topic
   * @returns {string | null} id; null: the device is not in the cache of registered devices
   */
  function registeredId(device) {
    const identity = identifyDevice(device);
    return identity && registry.cache.peek(identity.id) ? identity.id : null;
  }

  /** @param {DeadLetter} deadLetter @returns {Promise<void>} */
  function commit(deadLetter) {
    // The stored form is created once, so that each retry writes the same row.
    const stored = storedForm(deadLetter);
    if (!outbox) return retry.run(() => store.write(deadLetter, stored));
    const group = Number(stored.id.at(-1)) % groups;
    const announcement = /** @type {const} */ ({ kind: 'dead_letter', id: uuidText(stored.id), group });
    return retry.run(() =>
      outbox.commit({ ...announcement, deadLetter: stored }, () => store.write(deadLetter, stored)),
    );
  }

  /** @param {DeadLetter} deadLetter */
  async function write(deadLetter) {
    try {
      await commit(deadLetter);
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected' || !deadLetter.content) throw error;
      // The database refuses the content, so only the counts are stored. Without a stored dead letter the message would
      // stay unacknowledged, and the broker would redeliver it forever.
      await commit({ ...deadLetter, content: null });
    }
  }

  return {
    /**
     * @param {Pick<Message, 'topic' | 'contentType' | 'payload' | 'receivedAt' | 'onRefused'>} message
     * @param {string} device id or name from the topic
     * @param {Refusals} refused
     * @returns {Promise<void>} settles when the dead letter is committed
     */
    async put({ topic, contentType, payload, receivedAt, onRefused }, device, refused) {
      const [first] = refused;
      if (!first) return;
      onRefused?.(refused);
      for (const { code } of refused) metrics.refused.inc({ code });
      const counts = countCodes(refused);
      notices.refused(topic, counts, first);
      const account = registeredId(device);
      // The quota uses the present time. A redelivered message belongs to an earlier hour, and would restart
      // the hour of the quota.
      const { verdict, codes } = quota.take(account, clock(), counts);
      if (verdict === 'none') return;
      const isWhole = verdict === 'whole';
      await write({
        receivedAt,
        // All unregistered devices share one count, so a dead letter with counts only names no device.
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
 * Limits of dead letters that a process stores per hour: of one device, of all unregistered devices together, and in total. `counting`
 * limits the dead letters with counts only, in total per minute.
 */
const LIMITS = { perDevice: 1000, unregistered: 10_000, total: 100_000, counting: 100 };

/** Limit of devices whose dead letters are counted in memory. An evicted device starts at 0 again, within the total limit. */
const MAX_DEVICES = 10_000;

/** @typedef {{ stored: number, countedAt: number, pending: Record<string, number> }} QuotaUse `pending`: refusals that no dead letter counts yet */

/** @returns {QuotaUse} */
const openAccount = () => ({ stored: 0, countedAt: 0, pending: {} });

/** @typedef {'whole' | 'counts' | 'none'} Verdict `counts`: a dead letter without the payload; `none`: a later one has these counts */

/**
 * Bounds the number of dead letters, because a broken device must not fill the disk. Above the limit one dead letter a minute is stored,
 * with the counts of all refusals since the previous dead letter.
 *
 * Unregistered devices and invalid names share one account, because a client can invent any number of names.
 */
export class DeadLetterQuota {
  #limits;
  #unregistered = openAccount();
  /** @type {LRUCache<string, QuotaUse>} */
  #devices = new LRUCache({ max: MAX_DEVICES, memoMethod: openAccount });
  #inHour = { began: 0, stored: 0 };
  #inMinute = { began: 0, counting: 0 };

  /** @param {{ limits?: typeof LIMITS }} [options] */
  constructor({ limits = LIMITS } = {}) {
    this.#limits = limits;
  }

  /**
   * Decides how the refusals of one message are stored, and counts them.
   *
   * @param {string | null} device id of a registered device; null: it is not registered
   * @param {number} now epoch ms
   * @param {Record<string, number>} codes refused measurements of this message, by code
   * @returns {{ verdict: Verdict, codes: Record<string, number> }} `codes`: the counts for the dead letter
   */
  take(device, now, codes) {
    this.#reset(now);
    const account = device === null ? this.#unregistered : this.#devices.memo(device);
    const limit = device === null ? this.#limits.unregistered : this.#limits.perDevice;
    if (account.stored < limit && this.#inHour.stored < this.#limits.total) {
      account.stored++;
      this.#inHour.stored++;
      return { verdict: 'whole', codes };
    }
    for (const [code, count] of Object.entries(codes)) {
      account.pending[code] = (account.pending[code] ?? 0) + count;
    }
    const isRecent = Math.abs(now - account.countedAt) < MINUTE_MS;
    if (isRecent || this.#inMinute.counting >= this.#limits.counting) return { verdict: 'none', codes };
    this.#inMinute.counting++;
    const all = account.pending;
    Object.assign(account, { countedAt: now, pending: {} });
    return { verdict: 'counts', codes: all };
  }

  /** Resets the counts at the start of an hour or minute. @param {number} now epoch ms */
  #reset(now) {
    if (bucketOf(now) !== this.#inHour.began) {
      Object.assign(this.#inHour, { began: bucketOf(now), stored: 0 });
      for (const account of [this.#unregistered, ...this.#devices.values()]) account.stored = 0;
    }
    const minute = now - (now % MINUTE_MS);
    if (minute !== this.#inMinute.began) Object.assign(this.#inMinute, { began: minute, counting: 0 });
  }
}
