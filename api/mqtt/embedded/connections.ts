import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Aedes, Client } from 'aedes';
import type { Logger } from 'pino';
import { MillraceError } from '../../../common/errors.ts';
import type { Accounts } from '../../access/credentials/accounts.ts';
import type { Account } from '../../access/credentials/permissions.ts';
import { Acknowledgements, type Deliveries } from '../acknowledgements.ts';
import { disconnect, guardPackets, REASONS } from './mqtt5.ts';
import { ConnectionReader } from './reading/connection-reader.ts';
import type { PacketLimit } from './reading/packet-scanner.ts';
import type { ReadScheduler } from './reading/read-scheduler.ts';
import { dropDeepTopics } from './settling.ts';

/** Shared by all connections: an error with its stack takes 20 µs, and 10,000 connections can close in one iteration of the event loop. */
const CLOSED = new MillraceError('unavailable', 'The connection closed.');

/** The state of one connection. */
export interface Connection {
  client: Client;
  reader: ConnectionReader;
  acknowledgements: Acknowledgements;
  /** aborts when the connection closes */
  closed: AbortSignal;
  /** null: the client has not signed in */
  account: Account | null;
  /** filters that the client requested in SUBSCRIBE */
  filters: Set<string>;
  /** the topic of the last will of the client */
  willTopic?: string;
  /** whether the client may send for a device of a mapped topic */
  permits?: (device: string, topic: string) => boolean;
  /** unacknowledged messages of the client; missing: the client sent no message with QoS 1 or 2 */
  deliveries?: Deliveries;
  /** whether the client uses MQTT 5 and requested no reason strings */
  isTerse: boolean;
}

/** Passes a socket to aedes. From then on aedes uses the socket within the limits of `ConnectionReader`. */
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

/**
 * Interval in ms at which the keepalive timers of connections under backpressure are restarted. It must be shorter than the shortest
 * keepalive limit, 1.5 s.
 */
const ALIVE_EVERY_MS = 1000;

/** All connections of the broker. */
export class Connections {
  #known: WeakMap<Client, Connection> = new WeakMap();
  #open: Set<Connection> = new Set();
  #heartbeat: NodeJS.Timeout | undefined;

  /** Adds a connection until it closes. */
  add(connection: Connection) {
    this.#known.set(connection.client, connection);
    this.#open.add(connection);
    connection.closed.addEventListener('abort', () => this.#open.delete(connection), { once: true });
  }

  /**
   * Returns the state of a client's connection.
   * @param client may be disconnected, because its last will may be unsettled
   */
  of(client: Client) {
    return this.#known.get(client);
  }

  /** Returns the open connections. */
  all(): Iterable<Connection> {
    return this.#open;
  }

  /** Starts to restart keepalive timers, so that the broker does not close connections under backpressure. */
  watch() {
    this.#heartbeat = setInterval(() => this.#keepBusyAlive(), ALIVE_EVERY_MS);
  }

  /** Stops reading from all connections. */
  quiesce() {
    for (const { reader } of this.#open) reader.stop();
  }

  /** Closes all connections. */
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

/** Size of the fixed header of a PUBLISH, in bytes. */
const FIXED_HEADER = 5;

/** Returns the Maximum Packet Size in bytes that CONNACK announces to clients of MQTT 5. */
export const maximumPacketSize = (maxPayloadBytes: number) => maxPayloadBytes + HEADROOM + FIXED_HEADER;

/**
 * Limit of packets that are no PUBLISH, and of the first packet, whose sender has not signed in yet, in bytes. It is enough for a CONNECT
 * with names, a token and a last will of 64 KiB, and for a SUBSCRIBE to a thousand devices.
 */
const MAX_OTHER_BYTES = 96 * 1024;

/** The type of PUBLISH, in the upper half of the first byte. */
const PUBLISH = 0x30;

/** The largest length that a fixed header may have (MQTT 3.1.1, table 2.4). */
const MAX_LENGTH = 268_435_455;

/** @param firstByte of a packet */
const isPublish = (firstByte: number) => (firstByte & 0xf0) === PUBLISH;

/** Returns the function that limits the size of packets, because aedes has no limit. */
export const packetLimit =
  (maxPayloadBytes: number): PacketLimit =>
  (firstByte, isFirst) =>
    !isFirst && isPublish(firstByte) ? maxPayloadBytes + HEADROOM : MAX_OTHER_BYTES;

/**
 * Restarts the keepalive timer of a connection. aedes closes a connection from which it read nothing for one and a half
 * times its keepalive (MQTT 3.1.1, 3.1.2-24). Under backpressure the device may be alive, although aedes reads nothing.
 * aedes has no function to restart the timer, so the private `_keepaliveTimer` is used. It is null without a keepalive
 * or after the connection closed.
 */
function keepAlive(client: Client) {
  const { _keepaliveTimer } = client as unknown as { _keepaliveTimer?: NodeJS.Timeout | null };
  _keepaliveTimer?.refresh();
}

/**
 * Limit of connections of an account: one connection in use, one that broke without notice, and two for an operator who watches the device.
 */
export const MAX_PER_ACCOUNT = 4;

/**
 * Bounds the connections of each account, because one credential with many client ids could fill the broker. At the limit, a new
 * connection closes the oldest connection of the account. So a device can always reconnect, even if its older connections broke without
 * notice. The account of the installation has no limit.
 */
export class OwnConnections {
  #onTooMany;
  /** The connections of each account, the oldest first, by device id. */
  #open: Map<string, Set<Connection>> = new Map();

  constructor(onTooMany: (account: Account) => void) {
    this.#onTooMany = onTooMany;
  }

  /** Counts a connection for its account. @param connection a connection whose client has signed in */
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

/**
 * Closes the connections of accounts whose credential any process has rotated or revoked. At an interval, all accounts
 * are compared with the database, a hundred per request.
 */
export class CredentialRecheck {
  #connections;
  #accounts;
  #everyMs;
  #logger;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({
    connections,
    accounts,
    everyMs,
    logger,
  }: {
    /** the open connections */
    connections: () => Iterable<Connection>;
    accounts: Accounts;
    everyMs: number;
    logger: Logger;
  }) {
    this.#connections = connections;
    this.#accounts = accounts;
    this.#everyMs = everyMs;
    this.#logger = logger;
  }

  /** Checks periodically. */
  start() {
    // The next check is scheduled after the end of the current check, so two checks never overlap.
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#checkAll(), this.#everyMs).unref();
  }

  /**
   * Checks the connections of one account at once.
   * @param deviceId device whose credential has changed
   * @returns resolves when the connections are closed
   */
  now(deviceId: string): Promise<void> {
    return this.#tryCheck(({ account }) => account?.deviceId === deviceId);
  }

  /** Ends the periodic checks. */
  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #check(isSelected: (connection: Connection) => boolean) {
    const open = [...this.#connections()].filter(
      (connection) => connection.account !== null && isSelected(connection),
    );
    const outdated = await this.#accounts.outdated(open.flatMap(({ account }) => account ?? []));
    for (const { client, account } of open) {
      if (!account || !outdated.has(account)) continue;
      this.#logger.info({ account: account.name }, 'its credential is no longer valid; connection closed');
      disconnect(client, REASONS.notAuthorized);
    }
  }

  async #tryCheck(isSelected: (connection: Connection) => boolean) {
    try {
      await this.#check(isSelected);
    } catch (error) {
      // The database is unavailable. The next periodic check covers these accounts too.
      this.#logger.debug({ reason: (error as Error).message }, 'credentials not checked');
    }
  }

  async #checkAll() {
    await this.#tryCheck(() => true);
    this.start();
  }
}
