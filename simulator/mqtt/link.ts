import { performance } from 'node:perf_hooks';
import type { Ledger } from '../ledger/ledger.ts';
import type { Meter } from '../meter.ts';
import { type Message, Outbox } from '../outbox.ts';
import { type Broker, Connection } from './connection.ts';

export interface LinkOptions {
  broker: Broker;
  /** waiting messages, bytes of pending messages, unacknowledged messages */
  limits: { messages: number; bytes: number; window: number };
  meter: Meter;
  ledger: Ledger | null;
  onTrouble: (reason: string) => void;
  /** the broker refuses the client permanently */
  onRefused: (reason: string) => void;
}

/** A connection with an outbox. Every accepted message is acknowledged by the broker, or dropped and counted. */
export function createLink({
  broker,
  clientId,
  will,
  limits,
  meter,
  ledger,
  onUp,
  onTrouble,
  onRefused,
}: LinkOptions & Pick<ConstructorParameters<typeof Connection>[0], 'clientId' | 'will' | 'onUp'>) {
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

  /** Before a message is sent. @returns whether the message may be sent */
  function writtenDown(message: Message): boolean {
    if (!ledger || message.note === null) return true;
    message.entry = ledger.sent(message.note);
    message.note = null;
    return message.entry !== null;
  }

  return {
    start: () => connection.start(),
    publish: ((topic, payload, options) =>
      connection.publish(topic, payload, options)) satisfies Connection['publish'],
    push: ((message) => outbox.push(message)) satisfies Outbox['push'],
    whenPendingAtMost: ((count) => outbox.whenAtMost(count)) satisfies Outbox['whenAtMost'],
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
     * Waits for pending messages, publishes the last messages, and disconnects. After the deadline the connection is destroyed, and the
     * broker publishes the last will.
     * @param publishLast not called without a connection
     */
    async stop(deadline: Promise<unknown>, publishLast: () => Promise<unknown>) {
      await Promise.race([outbox.whenAtMost(0), deadline]);
      const settled = connection.up && outbox.size() === 0;
      const published = settled ? publishLast().then(() => true) : false;
      const orderly = await Promise.race([published, deadline.then(() => false)]);
      await connection.stop({ orderly });
    },
  };
}
