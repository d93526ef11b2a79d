import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { find, parsePointer } from './pointer.ts';

/** A message takes about 200 bytes. */
const MAX_MESSAGES = 20_000;

/**
 * Messages that may come again with another time, such as an uplink of LoRaWAN that a second gateway delivers late.
 * Only this process knows them.
 */
export class RepeatedMessages {
  #by;
  #withinMs;
  /** epoch ms of the first message with the same content */
  #times: LRUCache<string, number> = new LRUCache({ max: MAX_MESSAGES });

  /** A message without the first of the pointers is never repeated. */
  constructor({ by, within_s: seconds }: { by: string[]; within_s: number }) {
    this.#by = by.map(parsePointer);
    this.#withinMs = seconds * 1000;
  }

  /** Returns the time of the first message, or null if the message is new. */
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
