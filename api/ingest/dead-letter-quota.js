import { LRUCache } from 'lru-cache';
import { bucketOf } from '../../schema/rules.js';

const MINUTE_MS = 60_000;

/** Letters that a process keeps a device and hour, and in all in an hour: what is beyond is the same again. */
const MOST = { ofDevice: 1000, inAll: 100_000 };

/** Devices whose letters are counted; one that was pushed out starts anew, within the bound for all. */
const MOST_DEVICES = 100_000;

/** @typedef {'whole' | 'counts' | 'none'} Verdict `counts`: a letter without the payload; `none`: the next one counts it */

/**
 * Bounds how many dead letters there are: a device that sends nothing but rubbish must not fill the disk. Beyond the
 * bound one letter a minute tells the counts of all that it settles.
 *
 * @param {{ most?: { ofDevice: number, inAll: number } }} [options]
 */
export function createDeadLetterQuota({ most = MOST } = {}) {
  /** @typedef {{ letters: number, toldAt: number, unsaid: Record<string, number> }} Account */
  /** @type {LRUCache<string, Account>} */
  const devices = new LRUCache({ max: MOST_DEVICES });
  let hour = 0;
  let inAll = 0;

  /** @param {string} device */
  function accountOf(device) {
    const known = devices.get(device);
    if (known) return known;
    /** @type {Account} */
    const account = { letters: 0, toldAt: 0, unsaid: {} };
    devices.set(device, account);
    return account;
  }

  return {
    /**
     * @param {string} device as the topic has it
     * @param {number} at epoch ms of the receipt
     * @param {Record<string, number>} codes refused measurements of this message, by code
     * @returns {{ verdict: Verdict, codes: Record<string, number> }} `codes`: what the letter is to count
     */
    take(device, at, codes) {
      if (bucketOf(at) !== hour) {
        hour = bucketOf(at);
        inAll = 0;
        for (const account of devices.values()) account.letters = 0;
      }
      const account = accountOf(device);
      if (account.letters < most.ofDevice && inAll < most.inAll) {
        account.letters++;
        inAll++;
        return { verdict: 'whole', codes };
      }
      for (const [code, count] of Object.entries(codes)) {
        account.unsaid[code] = (account.unsaid[code] ?? 0) + count;
      }
      if (Math.abs(at - account.toldAt) < MINUTE_MS) return { verdict: 'none', codes };
      const all = account.unsaid;
      Object.assign(account, { toldAt: at, unsaid: {} });
      return { verdict: 'counts', codes: all };
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterQuota>} DeadLetterQuota */
