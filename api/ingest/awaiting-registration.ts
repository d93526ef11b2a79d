/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Message } from './pipeline.js' */

/**
 * Limits of the queue: number of messages, time in ms, and size of one message in bytes. Above the first two the oldest messages are
 * dropped. A larger message is not queued.
 */
const MAX_MESSAGES = 1000;
const KEPT_MS = 60_000;
const MAX_BYTES = 16_384;

/**
 * Queues messages that arrived before the birth of their device: when AUTO_REGISTER is off, or with aliases of Sparkplug. Each message
 * also becomes a dead letter. If the birth arrives within a minute, ingest stores the messages.
 *
 * @template {Message} [M=Message]
 */
export class AwaitingRegistration {
  #clock;
  /** Waiting messages, the oldest first. @type {Array<{ device: string, arrivedAt: number, message: M }>} */
  #waiting = [];

  /** @param {{ clock: () => number }} deps `clock` in epoch ms */
  constructor({ clock }) {
    this.#clock = clock;
  }

  /** Queues a message for a minute, unless it is larger than `MAX_BYTES`. @param {string} device id @param {M} message */
  remember(device, message) {
    this.#forgetOld();
    if (message.payload.length > MAX_BYTES) return;
    this.#waiting.push({ device, arrivedAt: this.#clock(), message });
    if (this.#waiting.length > MAX_MESSAGES) this.#waiting.shift();
  }

  /** Removes and returns the messages of a device. @param {string} device id @returns {M[]} in order of arrival */
  take(device) {
    this.#forgetOld();
    const taken = this.#waiting.filter((entry) => entry.device === device);
    if (taken.length > 0) this.#waiting = this.#waiting.filter((entry) => entry.device !== device);
    return taken.map(({ message }) => message);
  }

  /** Number of waiting messages. */
  get size() {
    return this.#waiting.length;
  }

  #forgetOld() {
    const oldest = this.#clock() - KEPT_MS;
    this.#waiting = this.#waiting.filter(({ arrivedAt }) => arrivedAt >= oldest);
  }
}

/**
 * Stores messages that waited for a birth. Each message is also a dead letter, which remains if the storing fails.
 *
 * @template {Message} M
 * @param {M[]} messages that `take` returned
 * @param {Pick<Metrics, 'messages'>} metrics
 * @param {(message: M) => Promise<unknown>} store
 */
export function storeWaiting(messages, metrics, store) {
  for (const message of messages) store(message).catch(() => metrics.messages.inc({ result: 'unsettled' }));
}
