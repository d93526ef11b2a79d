import { performance } from 'node:perf_hooks';
import { createFifo } from './fifo.js';

/**
 * A message on its way.
 *
 * @typedef {object} Message
 * @property {string} topic
 * @property {string | Buffer} payload
 * @property {boolean} retain
 * @property {number} samples how many measurements it carries
 * @property {string | null} note its line for the ledger, until it is written
 * @property {number | null} dueAt scheduled time of sending, in ms of `performance.now()`; null: as soon as possible
 * @property {number} sentAt the latest sending, in ms of `performance.now()`; 0 before the first
 * @property {number} bytes its memory
 * @property {number | null} entry its number in the ledger, null before it is sent
 * @property {((acknowledged: boolean) => void) | null} onSettled called when it is acknowledged, or dropped
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
 * The pending messages of one connection, in order: first the unacknowledged ones, then the waiting ones.
 *
 *     push -> [ waiting ........ ] -> [ in flight, at most `window` ] -> acknowledged
 *               ^ the oldest is dropped     |              ^
 *                 beyond `limit`            v the connection breaks, and comes back
 *                                        [ to be sent again ]
 *
 * @param {object} options
 * @param {{ messages: number, bytes: number }} options.limit waiting messages, and bytes of all pending messages;
 *   above it the oldest waiting message is dropped. A message that was sent is never dropped, because it may have arrived
 * @param {number} options.window unacknowledged messages
 * @param {(message: Message, onAcknowledged: () => void) => void} options.send
 * @param {(message: Message) => void} options.onAcknowledged
 * @param {(message: Message) => void} options.onDropped
 */
export function createOutbox({ limit, window, send, onAcknowledged, onDropped }) {
  /** @type {ReturnType<typeof createFifo<Message>>} */
  const waiting = createFifo();
  /** @type {Set<Message>} in the order of sending */
  const inFlight = new Set();
  /** @type {Message[]} sent on a connection that broke, in the order of sending */
  let again = [];
  /** @type {{ max: number, resolve: () => void }[]} */
  let watchers = [];
  let open = false;
  let bytes = 0;

  const size = () => inFlight.size + again.length + waiting.length;

  function sendWhatMay() {
    while (open && inFlight.size < window) {
      const message = again.shift() ?? waiting.shift();
      if (!message) return;
      inFlight.add(message);
      message.sentAt = performance.now();
      send(message, () => acknowledge(message));
    }
  }

  /** @param {Message} message */
  function acknowledge(message) {
    if (!inFlight.delete(message)) return;
    bytes -= message.bytes;
    onAcknowledged(message);
    sendWhatMay();
    notifyWatchers();
  }

  function dropWhatMust() {
    while (waiting.length > limit.messages || (bytes > limit.bytes && waiting.length > 0)) {
      const oldest = /** @type {Message} */ (waiting.shift());
      bytes -= oldest.bytes;
      onDropped(oldest);
    }
    notifyWatchers();
  }

  function notifyWatchers() {
    if (watchers.length === 0) return;
    for (const { resolve } of watchers.filter(({ max }) => size() <= max)) resolve();
    watchers = watchers.filter(({ max }) => size() > max);
  }

  return {
    size,

    /** @param {NewMessage} message */
    push(message) {
      const whole = complete(message);
      bytes += whole.bytes;
      waiting.push(whole);
      sendWhatMay();
      dropWhatMust();
    },

    /** There is a connection: sends what waits. */
    open() {
      open = true;
      sendWhatMay();
    },

    /** The connection is gone: what it did not acknowledge is sent again, before all else. */
    close() {
      open = false;
      again = [...inFlight, ...again];
      inFlight.clear();
    },

    /** @param {number} max @returns {Promise<void>} when no more messages than this are pending, or on `release` */
    whenAtMost(max) {
      if (size() <= max) return Promise.resolve();
      return new Promise((resolve) => {
        watchers.push({ max, resolve });
      });
    },

    /** Resolves all waiting promises. */
    release() {
      for (const { resolve } of watchers) resolve();
      watchers = [];
    },
  };
}

/** @typedef {ReturnType<typeof createOutbox>} Outbox */
