import type { MqttClient } from 'mqtt';
import type { Host } from '../../ingest/sparkplug/host.ts';

/**
 * Reason code of a PUBACK for a forbidden publish (MQTT 5, section 3.4.2.1). Mosquitto 2.0.11 may also close the
 * connection after each forbidden publish.
 */
const NOT_AUTHORIZED = 0x87;

/**
 * Publishes the state of this Sparkplug host application at the broker. The state is published on the connection of the subscriber, so
 * the host is online exactly while it receives the messages of edge nodes.
 *
 * Sparkplug requires that hosts use a clean session (tck-id-message-flow-phid-sparkplug-clean-session-50). This client
 * uses a persistent session instead, because it acknowledges after the commit. An NDEATH has QoS 1. If this process
 * missed an NDEATH during a restart, the node would stay online forever.
 */
export class Presence {
  #client;
  #host;
  #onForbidden;
  #isAnnounced = false;

  /**
   * @param client a client that is not connected yet
   * @param onForbidden called when the broker does not let this client publish the state
   */
  constructor(client: MqttClient, host: Host, onForbidden: () => void) {
    this.#client = client;
    this.#host = host;
    this.#onForbidden = onForbidden;
    this.#prepare();
    client.on('reconnect', () => this.#prepare());
  }

  /**
   * Publishes the online state, after the broker has granted the subscriptions
   * (tck-id-message-flow-phid-sparkplug-state-publish).
   */
  announce() {
    this.#isAnnounced = true;
    this.#publish(this.#host.birth());
  }

  /** Corrects a state message that reports this host as offline. @param payload payload of a state message of this host id */
  receive(payload: Buffer) {
    if (this.#isAnnounced && this.#host.reportsOffline(payload)) this.#publish(this.#host.birth());
  }

  /** Publishes the offline state, because the host accepts no more messages. */
  leave() {
    this.#isAnnounced = false;
    this.#publish(this.#host.death());
  }

  /** Sets the last will of the next connection. */
  #prepare() {
    this.#client.options.will = this.#host.will();
  }

  #publish({ topic, payload, qos, retain }: ReturnType<Host['birth']>) {
    if (!this.#client.connected) return;
    this.#client.publish(topic, payload, { qos, retain }, (error) => {
      if ((error as { code?: number } | undefined)?.code === NOT_AUTHORIZED) this.#onForbidden();
    });
  }
}

/** Reason code of a DISCONNECT (MQTT 5, section 3.14.2.1): another connection took this session over. */
const SESSION_TAKEN_OVER = 0x8e;

/** Time limit of a short connection, in ms: the broker closes it earlier. Another process with the same client id reconnects in 1 s. */
const SHORT_MS = 3000;

/** Number of short connections in a row that mean that another process uses the same client id. */
const SHORT_CONNECTIONS = 4;

/**
 * Detects that another process uses the same client id. A broker should send a reason code when it closes the
 * connection, but Mosquitto 2.0.11 sends no reason code. Then both processes would take the session from each other
 * forever. The older process detects the conflict first: a process does not count its first connection, so the count of
 * the newer process is lower by one.
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
  // An error without an open connection has another cause: the broker refuses the client, or the network fails. An error
  // on an open connection is normal under load: the broker closes the connection while PUBACKs are unread, so TCP resets
  // the connection.
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
    /** Called when this process closes the connection itself, so that the connection does not count as short. */
    closing() {
      connectedAt = null;
    },
  };
}
