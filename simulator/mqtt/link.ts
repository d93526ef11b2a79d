import { performance } from 'node:perf_hooks';
import { Outbox } from '../outbox.js';
import { Connection } from './connection.js';

/** @import { Ledger } from '../ledger/ledger.js' */
/** @import { Meter } from '../meter.js' */
/** @import { Message } from '../outbox.js' */
/** @import { Broker } from './connection.js' */

/**
 * The options that every kind of connection has.
 *
 * @typedef {object} LinkOptions
 * @property {Broker} broker
 * @property {{ messages: number, bytes: number, window: number }} limits maximum number of waiting messages, of bytes of pending
 *   messages, and of unacknowledged messages
 * @property {Meter} meter
 * @property {Ledger | null} ledger
 * @property {(reason: string) => void} onTrouble gets the reason why there is no connection
 * @property {(reason: string) => void} onRefused gets the reason why the broker refuses the client permanently
 */

/**
 * Creates a connection with an outbox. Every accepted message is acknowledged by the broker, or dropped and counted.
 *
 * @param {LinkOptions & Pick<ConstructorParameters<typeof Connection>[0], 'clientId' | 'will' | 'onUp'>} options
 */
export function createLink({ broker, clientId, will, limits, meter, ledger, onUp, onTrouble, onRefused }) {
  const connection = new Connection({
    broker,
    will,
    clientId,
    onTrouble,
    onRefused,
    onUp(session) {
      onUp(session);
      outbox.open();
    },
    onDown: () => outbox.close(),
  });

  const outbox = new Outbox({
    limit: limits,
    window: limits.window,
    send(message, onAcknowledged) {
      if (!writtenDown(message)) return;
      connection.publish(message.topic, message.payload, { retain: message.retain, onAcknowledged });
    },
    onAcknowledged(message) {
      const { samples, dueAt, sentAt, entry, onSettled } = message;
      if (entry !== null) ledger?.acknowledged(entry);
      if (onSettled) onSettled(true);
      else meter.acknowledged(samples, performance.now() - (dueAt ?? sentAt));
    },
    onDropped({ samples, onSettled }) {
      if (onSettled) onSettled(false);
      else meter.dropped(samples);
    },
  });

  /** Writes a message to the ledger before it is sent. @param {Message} message @returns {boolean} whether the message may be sent */
  function writtenDown(message) {
    if (!ledger || message.note === null) return true;
    message.entry = ledger.sent(message.note);
    message.note = null;
    return message.entry !== null;
  }

  return {
    start: () => connection.start(),
    /** @type {Connection['publish']} */
    publish: (topic, payload, options) => connection.publish(topic, payload, options),
    /** @type {Outbox['push']} */
    push: (message) => outbox.push(message),
    /** @type {Outbox['whenAtMost']} */
    whenPendingAtMost: (count) => outbox.whenAtMost(count),
    release: () => outbox.release(),

    get connected() {
      return connection.up;
    },

    get everConnected() {
      return connection.everUp;
    },

    get session() {
      return connection.session;
    },

    /**
     * Waits for pending messages, publishes the last messages, and disconnects. After the deadline the connection is destroyed,
     * and the broker publishes the last will.
     *
     * @param {Promise<unknown>} deadline
     * @param {() => Promise<unknown>} publishLast publishes the last messages; not called without a connection
     */
    async stop(deadline, publishLast) {
      await Promise.race([outbox.whenAtMost(0), deadline]);
      const settled = connection.up && outbox.size() === 0;
      const published = settled ? publishLast().then(() => true) : false;
      const orderly = await Promise.race([published, deadline.then(() => false)]);
      await connection.stop({ orderly });
    },
  };
}

/** @typedef {ReturnType<typeof createLink>} Link */
