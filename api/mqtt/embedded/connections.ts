import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Aedes, Client } from 'aedes';
import { MillraceError } from '../../../common/errors.ts';
import type { Account } from '../../access/topic-permissions.ts';
import { Acknowledgements, type Deliveries } from '../acknowledgements.ts';
import { disconnect, guardPackets, REASONS } from './mqtt5.ts';
import type { PacketLimit } from './reading/connection-reader.ts';
import { ConnectionReader } from './reading/connection-reader.ts';
import type { ReadScheduler } from './reading/read-scheduler.ts';
import { dropDeepTopics } from './settling.ts';

/** Shared by all connections: an error with its stack takes 20 µs, and 10,000 connections can close in one iteration of the event loop. */
const CLOSED = new MillraceError('unavailable', 'The connection closed.');

export interface Connection {
  client: Client;
  reader: ConnectionReader;
  acknowledgements: Acknowledgements;
  closed: AbortSignal;
  /** null: the client has not signed in */
  account: Account | null;
  filters: Set<string>;
  willTopic?: string;
  /** whether the client may send for a device of a topic outside the contract */
  permits?: (device: string, topic: string) => boolean;
  /** missing: the client sent no message with QoS 1 or 2 */
  deliveries?: Deliveries;
  /** the client uses MQTT 5 and requested no reason strings */
  isTerse: boolean;
}

export function openConnection(
  socket: Socket,
  {
    aedes,
    scheduler,
    maxMessageBytes,
    onTooLarge,
  }: {
    aedes: Aedes;
    scheduler: ReadScheduler;
    maxMessageBytes: number;
    onTooLarge: (client: Client, bytes: number, isClosed: boolean) => void;
  },
): Connection {
  socket.setNoDelay(true);
  const reader = new ConnectionReader(socket, {
    scheduler,
    packetLimit: packetLimit(maxMessageBytes),
    onTooLarge(bytes) {
      onTooLarge(client, bytes, true);
      disconnect(client, REASONS.packetTooLarge);
    },
    // CONNACK announces the limit to clients of MQTT 5. A client of MQTT 3.1.1 does not know the limit, and would send a large message
    // again without end. So its message is cut, refused for its size, and acknowledged.
    shortens(firstByte, bytes) {
      const isShortened = client.version !== 5 && isPublish(firstByte) && bytes <= MAX_LENGTH;
      if (isShortened) onTooLarge(client, bytes, false);
      return isShortened;
    },
    isConnected: () => client.connected,
  });
  const client = aedes.handle(socket);
  dropDeepTopics(client);
  guardPackets(client);
  const acknowledgements = new Acknowledgements();
  const closing = new AbortController();
  // Every waiting message of this connection adds a listener, so Node.js must not warn about many listeners.
  setMaxListeners(0, closing.signal);
  socket.on('close', () => {
    acknowledgements.drop();
    closing.abort(CLOSED);
  });
  return {
    client,
    reader,
    acknowledgements,
    closed: closing.signal,
    account: null,
    filters: new Set(),
    isTerse: false,
  };
}

/** Must be shorter than the shortest keepalive limit, 1.5 s. */
const ALIVE_EVERY_MS = 1000;

export class Connections {
  #known: WeakMap<Client, Connection> = new WeakMap();
  #open: Set<Connection> = new Set();
  #heartbeat: NodeJS.Timeout | undefined;

  add(connection: Connection) {
    this.#known.set(connection.client, connection);
    this.#open.add(connection);
    connection.closed.addEventListener('abort', () => this.#open.delete(connection), { once: true });
  }

  /** The client may be disconnected, because its last will may be unsettled. */
  of(client: Client) {
    return this.#known.get(client);
  }

  /** Restarts keepalive timers, so that the broker does not close connections under backpressure. */
  watch() {
    this.#heartbeat = setInterval(() => this.#keepBusyAlive(), ALIVE_EVERY_MS);
  }

  quiesce() {
    for (const { reader } of this.#open) reader.stop();
  }

  destroy() {
    clearInterval(this.#heartbeat);
    for (const { client } of this.#open) disconnect(client, REASONS.shuttingDown);
  }

  #keepBusyAlive() {
    for (const { reader, client } of this.#open) if (reader.isBusy) keepAlive(client);
  }
}

/** Limit of the bytes of a PUBLISH in addition to its payload: topic, packet id and properties. */
const HEADROOM = 66_000;

const FIXED_HEADER = 5;

/** CONNACK announces it to clients of MQTT 5. */
export const maximumPacketSize = (maxPayloadBytes: number) => maxPayloadBytes + HEADROOM + FIXED_HEADER;

/** Enough for a CONNECT with names, a token and a last will of 64 KiB, and for a SUBSCRIBE to a thousand devices. */
const MAX_OTHER_BYTES = 96 * 1024;

const PUBLISH = 0x30;

/** The largest length in a fixed header (MQTT 3.1.1, table 2.4). */
const MAX_LENGTH = 268_435_455;

const isPublish = (firstByte: number) => (firstByte & 0xf0) === PUBLISH;

/** aedes does not limit the size of packets. */
export const packetLimit =
  (maxPayloadBytes: number): PacketLimit =>
  (firstByte, isFirst) =>
    !isFirst && isPublish(firstByte) ? maxPayloadBytes + HEADROOM : MAX_OTHER_BYTES;

/**
 * aedes closes a connection from which it read nothing for one and a half times its keepalive (MQTT 3.1.1, 3.1.2-24). Under backpressure
 * the device may be alive, although aedes reads nothing. The private timer is null without a keepalive or after the connection closed.
 */
function keepAlive(client: Client) {
  const { _keepaliveTimer } = client as unknown as { _keepaliveTimer?: NodeJS.Timeout | null };
  _keepaliveTimer?.refresh();
}

/** One connection in use, one that broke without notice, and two for an operator who watches the device. */
export const MAX_PER_ACCOUNT = 4;

/** One account with many client ids could fill the broker. A new connection closes the oldest, so a device can always reconnect. */
export class OwnConnections {
  #onTooMany;
  /** connections by device id, the oldest first */
  #open: Map<string, Set<Connection>> = new Map();

  constructor(onTooMany: (account: Account) => void) {
    this.#onTooMany = onTooMany;
  }

  enter(connection: Connection) {
    const { account, client, closed } = connection;
    if (!account || account.isInstallation || closed.aborted) return;
    const { deviceId } = account;
    const own = this.#open.get(deviceId) ?? new Set();
    // A connection with the same client id does not count, because aedes closes it.
    const others = [...own].filter((other) => other.client.id !== client.id);
    this.#open.set(deviceId, own.add(connection));
    closed.addEventListener('abort', () => this.#leave(deviceId, connection), { once: true });
    const [oldest] = others;
    if (!oldest || others.length < MAX_PER_ACCOUNT) return;
    this.#onTooMany(account);
    this.#leave(deviceId, oldest);
    disconnect(oldest.client, REASONS.quota);
  }

  #leave(deviceId: string, connection: Connection) {
    const own = this.#open.get(deviceId);
    own?.delete(connection);
    if (own?.size === 0) this.#open.delete(deviceId);
  }
}
