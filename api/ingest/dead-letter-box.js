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
 * Puts aside what was refused: one letter a message, however many of its measurements are bad; beyond a device's quota
 * one letter a minute that only counts.
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
   * @param {string} device as the topic has it
   * @returns {string | null} id; null: nobody has registered it, as far as this can be told without asking the database
   */
  function registeredId(device) {
    const identity = identifyDevice(device);
    return identity && registry.cache.peek(identity.id) ? identity.id : null;
  }

  /** @param {DeadLetter} letter */
  async function write(letter) {
    try {
      await retry.run(() => store.write(letter));
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'rejected' || !letter.content) throw error;
      // A database that does not take the message takes its counts: unacknowledged, it would come again for ever.
      await retry.run(() => store.write({ ...letter, content: null }));
    }
  }

  return {
    /**
     * @param {Message} message
     * @param {string} device as the topic has it
     * @param {Refusals} refused
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

/** @param {Refusals} refused @returns {Record<string, number>} */
function countCodes(refused) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { code } of refused) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

const MINUTE_MS = 60_000;

/**
 * Letters that a process keeps: of a device and hour, of all strangers together and hour, in all and hour; and of those
 * that only count, in all and minute. What is beyond is the same again.
 */
const MOST = { ofDevice: 1000, ofStrangers: 10_000, inAll: 100_000, counting: 100 };

/** Devices whose letters are counted; one that was pushed out starts anew, within the bound for all. */
const MOST_DEVICES = 10_000;

/** @typedef {'whole' | 'counts' | 'none'} Verdict `counts`: a letter without the payload; `none`: the next one counts it */

/**
 * Bounds how many dead letters there are: a device that sends nothing but rubbish must not fill the disk. Beyond the
 * bound one letter a minute tells the counts of all that it settles.
 *
 * Strangers, which are names of devices that nobody has registered, and names that are none, share one account: anybody
 * can invent as many as he likes, each as long as a topic may be.
 *
 * @param {{ most?: typeof MOST }} [options]
 */
export function createDeadLetterQuota({ most = MOST } = {}) {
  /** @typedef {{ letters: number, toldAt: number, unsaid: Record<string, number> }} Account */
  const open = () => /** @type {Account} */ ({ letters: 0, toldAt: 0, unsaid: {} });
  const strangers = open();
  /** @type {LRUCache<string, Account>} */
  const devices = new LRUCache({ max: MOST_DEVICES, memoMethod: open });
  const inHour = { began: 0, letters: 0 };
  const inMinute = { began: 0, counting: 0 };

  /** @param {number} at epoch ms */
  function turnPages(at) {
    if (bucketOf(at) !== inHour.began) {
      Object.assign(inHour, { began: bucketOf(at), letters: 0 });
      for (const account of [strangers, ...devices.values()]) account.letters = 0;
    }
    const minute = at - (at % MINUTE_MS);
    if (minute !== inMinute.began) Object.assign(inMinute, { began: minute, counting: 0 });
  }

  return {
    /**
     * @param {string | null} device id of a registered one; null: a stranger
     * @param {number} at epoch ms of the receipt
     * @param {Record<string, number>} codes refused measurements of this message, by code
     * @returns {{ verdict: Verdict, codes: Record<string, number> }} `codes`: what the letter is to count
     */
    take(device, at, codes) {
      turnPages(at);
      const account = device === null ? strangers : devices.memo(device);
      const itsMost = device === null ? most.ofStrangers : most.ofDevice;
      if (account.letters < itsMost && inHour.letters < most.inAll) {
        account.letters++;
        inHour.letters++;
        return { verdict: 'whole', codes };
      }
      for (const [code, count] of Object.entries(codes)) {
        account.unsaid[code] = (account.unsaid[code] ?? 0) + count;
      }
      const told = Math.abs(at - account.toldAt) < MINUTE_MS;
      if (told || inMinute.counting >= most.counting) return { verdict: 'none', codes };
      inMinute.counting++;
      const all = account.unsaid;
      Object.assign(account, { toldAt: at, unsaid: {} });
      return { verdict: 'counts', codes: all };
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterQuota>} DeadLetterQuota */
