import type { MqttClient } from 'mqtt';
import type { PresenceMessages } from '../../../ingest/topics.ts';

/** Reason code of a PUBACK (MQTT 5, 3.4.2.1). Mosquitto 2.0.11 may also close the connection after each forbidden publish. */
const NOT_AUTHORIZED = 0x87;

/**
 * Publishes the state of this process on the connection of the subscriber, so the process is online exactly while it receives the
 * messages of its senders.
 */
export class Presence {
  #client;
  #messages;
  #onForbidden;
  #isAnnounced = false;

  /** The client must not be connected yet. */
  constructor(client: MqttClient, messages: PresenceMessages, onForbidden: () => void) {
    this.#client = client;
    this.#messages = messages;
    this.#onForbidden = onForbidden;
    this.#prepare();
    client.on('reconnect', () => this.#prepare());
  }

  /** After the broker has granted the subscriptions. */
  announce() {
    this.#isAnnounced = true;
    this.#publish(this.#messages.birth());
  }

  /** Corrects a state message that reports this process as offline. */
  receive(payload: Buffer) {
    if (this.#isAnnounced && this.#messages.reportsOffline(payload)) this.#publish(this.#messages.birth());
  }

  leave() {
    this.#isAnnounced = false;
    this.#publish(this.#messages.death());
  }

  #prepare() {
    this.#client.options.will = this.#messages.will();
  }

  #publish({ topic, payload, qos, retain }: ReturnType<PresenceMessages['birth']>) {
    if (!this.#client.connected) return;
    this.#client.publish(topic, payload, { qos, retain }, (error) => {
      if ((error as { code?: number } | undefined)?.code === NOT_AUTHORIZED) this.#onForbidden();
    });
  }
}

/** Reason code of a DISCONNECT (MQTT 5, section 3.14.2.1). */
const SESSION_TAKEN_OVER = 0x8e;

/** The broker closes a short connection earlier. Another process with the same client id reconnects in 1 s. */
const SHORT_MS = 3000;

/** This many short connections in a row mean that another process uses the same client id. */
const SHORT_CONNECTIONS = 4;

/**
 * Two processes with one client id would take the session from each other forever: Mosquitto 2.0.11 sends no reason
 * code when it closes the connection. The older process detects the conflict first: a process does not count its first
 * connection, so the count of the newer process is lower by one.
 */
export function watchForTakeover(client: MqttClient, onTaken: () => void) {
  let connections = 0;
  let short = 0;
  /** epoch ms; null while there is no connection */
  let connectedAt: number | null = null;

  client.on('connect', () => {
    connections++;
    connectedAt = Date.now();
  });
  // An error without an open connection has another cause: the broker refuses the client, or the network fails. An error on an open
  // connection is normal under load: the broker closes the connection while PUBACKs are unread, so TCP resets the connection.
  client.on('error', () => {
    if (connectedAt === null) short = 0;
  });
  client.on('disconnect', ({ reasonCode }) => {
    if (reasonCode === SESSION_TAKEN_OVER) onTaken();
  });
  client.on('close', () => {
    if (connectedAt === null) return;
    short = connections > 1 && Date.now() - connectedAt < SHORT_MS ? short + 1 : 0;
    connectedAt = null;
    if (short === SHORT_CONNECTIONS) onTaken();
  });

  return {
    /** A connection that this process closes itself must not count as short. */
    closing() {
      connectedAt = null;
    },
  };
}
