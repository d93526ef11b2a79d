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
 * @property {string | null} note what the ledger is to say of it, let go of once it is said
 * @property {number | null} dueAt when it was to be sent, in ms of `performance.now()`; null: whenever it can be
 * @property {number} sentAt the latest sending, in ms of `performance.now()`; 0 before the first
 * @property {number} bytes what it weighs here
 * @property {number | null} entry its number in the ledger, null before it is sent
 * @property {((acknowledged: boolean) => void) | null} onSettled told when it is acknowledged, or dropped
 */

/** What a message takes beside its text: the objects around it. */
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
 * What is still owed to the broker on one connection, in order: first what is sent and not acknowledged, then what waits.
 *
 *     push -> [ waiting ........ ] -> [ in flight, at most `window` ] -> acknowledged
 *               ^ the oldest is dropped     |              ^
 *                 beyond `limit`            v the connection breaks, and comes back
 *                                        [ to be sent again ]
 *
 * @param {object} options
 * @param {{ messages: number, bytes: number }} options.limit most messages that wait, and most bytes owed in all; one
 *   more drops the oldest that waits. What was sent once is never dropped: it may have arrived
 * @param {number} options.window most messages sent and not acknowledged
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
  /** @type {{ most: number, resolve: () => void }[]} */
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
    tellWatchers();
  }

  function dropWhatMust() {
    while (waiting.length > limit.messages || (bytes > limit.bytes && waiting.length > 0)) {
      const oldest = /** @type {Message} */ (waiting.shift());
      bytes -= oldest.bytes;
      onDropped(oldest);
    }
    tellWatchers();
  }

  function tellWatchers() {
    if (watchers.length === 0) return;
    for (const { resolve } of watchers.filter(({ most }) => size() <= most)) resolve();
    watchers = watchers.filter(({ most }) => size() > most);
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

    /** @param {number} most @returns {Promise<void>} when no more messages than this are owed, or on `release` */
    whenAtMost(most) {
      if (size() <= most) return Promise.resolve();
      return new Promise((resolve) => {
        watchers.push({ most, resolve });
      });
    },

    /** Lets go of everyone who waits, however much is owed. */
    release() {
      for (const { resolve } of watchers) resolve();
      watchers = [];
    },
  };
}

/** @typedef {ReturnType<typeof createOutbox>} Outbox */
