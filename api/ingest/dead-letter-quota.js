import { LRUCache } from 'lru-cache';
import { bucketOf } from '../../schema/rules.js';

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
