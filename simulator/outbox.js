/**
 * A message on its way.
 *
 * @typedef {object} Message
 * @property {string} payload
 * @property {number} samples how many measurements it carries
 * @property {number} sentAt epoch ms of the latest sending, 0 before the first
 */

/**
 * What a device still owes the broker, in order: first what is sent and not acknowledged, then what waits.
 *
 *     push -> [ waiting ........ ] -> [ in flight, at most `window` ] -> acknowledged
 *               ^ the oldest is dropped     |
 *               | beyond `limit`            | the connection breaks
 *               +---------------------------+
 *
 * @param {object} options
 * @param {number} options.limit most messages that wait; one more drops the oldest
 * @param {number} options.window most messages sent and not acknowledged
 * @param {(message: Message, onAcknowledged: () => void) => void} options.send
 * @param {(message: Message) => void} options.onAcknowledged
 * @param {(message: Message) => void} options.onDropped
 */
export function createOutbox({ limit, window, send, onAcknowledged, onDropped }) {
  /** @type {Message[]} */
  let waiting = [];
  /** @type {Set<Message>} in the order of sending */
  const inFlight = new Set();
  /** @type {{ most: number, resolve: () => void }[]} */
  let watchers = [];
  let open = false;

  const size = () => waiting.length + inFlight.size;

  function sendWhatMay() {
    while (open && inFlight.size < window) {
      const message = waiting.shift();
      if (!message) return;
      inFlight.add(message);
      message.sentAt = Date.now();
      send(message, () => acknowledge(message));
    }
  }

  /** @param {Message} message */
  function acknowledge(message) {
    if (!inFlight.delete(message)) return;
    onAcknowledged(message);
    sendWhatMay();
    tellWatchers();
  }

  function dropWhatMust() {
    while (waiting.length > limit) onDropped(/** @type {Message} */ (waiting.shift()));
  }

  function tellWatchers() {
    for (const { resolve } of watchers.filter(({ most }) => size() <= most)) resolve();
    watchers = watchers.filter(({ most }) => size() > most);
  }

  return {
    size,

    /** @param {string} payload @param {number} samples */
    push(payload, samples) {
      waiting.push({ payload, samples, sentAt: 0 });
      sendWhatMay();
      dropWhatMust();
    },

    /** There is a connection: sends what waits. */
    open() {
      open = true;
      sendWhatMay();
    },

    /** The connection is gone: what it did not acknowledge waits again, before all else. */
    close() {
      open = false;
      waiting = [...inFlight, ...waiting];
      inFlight.clear();
      dropWhatMust();
      tellWatchers();
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
