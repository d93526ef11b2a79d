import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { find, parsePointer } from './pointer.ts';

/** Limit of messages whose times are remembered. One takes about 200 bytes. */
const MAX_MESSAGES = 20_000;

/**
 * Remembers messages that may come again with another time, such as an uplink of LoRaWAN that a second gateway delivers
 * late. This process forgets them when it ends, and other processes do not know them.
 */
export class RepeatedMessages {
  #by;
  #withinMs;
  /** Time of the first message with the same content, in epoch ms. */
  #times: LRUCache<string, number> = new LRUCache({ max: MAX_MESSAGES });

  /** @param once pointers to what is equal in a repeated message; a message without the first is never repeated */
  constructor({ by, within_s: seconds }: { by: string[]; within_s: number }) {
    this.#by = by.map(parsePointer);
    this.#withinMs = seconds * 1000;
  }

  /**
   * @param ts time of the message, in epoch ms
   * @returns time of the first message in epoch ms; null: the message is new
   */
  find(device: string, content: unknown, ts: number): number | null {
    const [counter, ...others] = this.#by.map((pointer) => find(content, pointer));
    if (counter === undefined || Number.isNaN(ts)) return null;
    const key = createHash('sha256')
      .update(JSON.stringify([device, counter, ...others]))
      .digest('base64');
    const first = this.#times.get(key);
    if (first !== undefined && Math.abs(ts - first) <= this.#withinMs) return first;
    this.#times.set(key, ts);
    return null;
  }
}
