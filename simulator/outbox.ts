import { performance } from 'node:perf_hooks';
import { Queue } from '../common/queue.js';

/**
 * A message that a device sends.
 *
 * @typedef {object} Message
 * @property {string} topic
 * @property {string | Buffer} payload
 * @property {boolean} retain
 * @property {number} samples number of samples in the message
 * @property {string | null} note ledger line of the message; null: no line is to be written
 * @property {number | null} dueAt scheduled time of sending, in ms of `performance.now()`; null: as soon as possible
 * @property {number} sentAt time of the latest sending, in ms of `performance.now()`; 0 before the first sending
 * @property {number} bytes memory that the message takes
 * @property {number | null} entry number of the message in the ledger; null before the message is sent
 * @property {((acknowledged: boolean) => void) | null} onSettled called when the message is acknowledged or dropped
 */

/** Memory of a message in addition to its text, in bytes. */
const OVERHEAD_BYTES = 256;

/** @typedef {Pick<Message, 'topic' | 'payload' | 'samples'> & Partial<Message>} NewMessage */

/** @param {NewMessage} message @returns {Message} */
const complete = (message) => ({
  retain: false,
  note: null,
  dueAt: null,
  onSettled: null,
  ...message,
  sentAt: 0,
  entry: null,
  bytes: message.payload.length + (message.note?.length ?? 0) + OVERHEAD_BYTES,
});

/**
 * Keeps the pending messages of one connection in order: unacknowledged messages come before waiting messages.
 *
 *     push -> [ waiting ........ ] -> [ in flight, at most `window` ] -> acknowledged
 *               ^ the oldest is dropped     |              ^
 *                 beyond `limit`            v the connection breaks, and comes back
 *                                        [ to be sent again ]
 */
export class Outbox {
  #limit;
  #window;
  #send;
  #onAcknowledged;
  #onDropped;
  /** @type {Queue<Message>} */
  #waiting = new Queue();
  /** @type {Set<Message>} unacknowledged messages in the order of sending */
  #inFlight = new Set();
  /** @type {Message[]} messages that were sent on a broken connection, in the order of sending */
  #again = [];
  /** @type {{ max: number, resolve: () => void }[]} */
  #watchers = [];
  #open = false;
  #bytes = 0;

  /**
   * @param {object} options
   * @param {{ messages: number, bytes: number }} options.limit maximum number of waiting messages, and of bytes of all pending
   *   messages. Above a limit the oldest waiting message is dropped. A message that was sent is never dropped, because it may
   *   have arrived
   * @param {number} options.window maximum number of unacknowledged messages
   * @param {(message: Message, onAcknowledged: () => void) => void} options.send
   * @param {(message: Message) => void} options.onAcknowledged
   * @param {(message: Message) => void} options.onDropped
   */
  constructor({ limit, window, send, onAcknowledged, onDropped }) {
    this.#limit = limit;
    this.#window = window;
    this.#send = send;
    this.#onAcknowledged = onAcknowledged;
    this.#onDropped = onDropped;
  }

  /** @returns {number} number of pending messages */
  size() {
    return this.#inFlight.size + this.#again.length + this.#waiting.size;
  }

  /** Adds a message. @param {NewMessage} message */
  push(message) {
    const whole = complete(message);
    this.#bytes += whole.bytes;
    this.#waiting.push(whole);
    this.#sendWhatMay();
    this.#dropWhatMust();
  }

  /** Sends the waiting messages. Must be called when the connection is established. */
  open() {
    this.#open = true;
    this.#sendWhatMay();
  }

  /** Stops sending. Must be called when the connection is lost. Unacknowledged messages are later sent again, before all other messages. */
  close() {
    this.#open = false;
    this.#again = [...this.#inFlight, ...this.#again];
    this.#inFlight.clear();
  }

  /**
   * Waits for acknowledgements.
   *
   * @param {number} max
   * @returns {Promise<void>} resolves when at most `max` messages are pending, or on `release`
   */
  whenAtMost(max) {
    if (this.size() <= max) return Promise.resolve();
    return new Promise((resolve) => {
      this.#watchers.push({ max, resolve });
    });
  }

  /** Resolves all promises of `whenAtMost`. */
  release() {
    for (const { resolve } of this.#watchers) resolve();
    this.#watchers = [];
  }

  #sendWhatMay() {
    while (this.#open && this.#inFlight.size < this.#window) {
      const message = this.#again.shift() ?? this.#waiting.shift();
      if (!message) return;
      this.#inFlight.add(message);
      message.sentAt = performance.now();
      this.#send(message, () => this.#acknowledge(message));
    }
  }

  /** @param {Message} message */
  #acknowledge(message) {
    if (!this.#inFlight.delete(message)) return;
    this.#bytes -= message.bytes;
    this.#onAcknowledged(message);
    this.#sendWhatMay();
    this.#notifyWatchers();
  }

  #dropWhatMust() {
    while (
      this.#waiting.size > this.#limit.messages ||
      (this.#bytes > this.#limit.bytes && this.#waiting.size > 0)
    ) {
      const oldest = /** @type {Message} */ (this.#waiting.shift());
      this.#bytes -= oldest.bytes;
      this.#onDropped(oldest);
    }
    this.#notifyWatchers();
  }

  #notifyWatchers() {
    if (this.#watchers.length === 0) return;
    for (const { resolve } of this.#watchers.filter(({ max }) => this.size() <= max)) resolve();
    this.#watchers = this.#watchers.filter(({ max }) => this.size() > max);
  }
}
