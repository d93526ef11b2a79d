import { setMaxListeners } from 'node:events';
import { MillraceError } from '../../../common/errors.js';
import { createAcknowledgements } from '../../ingest/acknowledgements.js';
import { ConnectionReader } from '../../ingest/backpressure/connection-reader.js';
import { dropDeepTopics } from './settling.js';

/** @import { Socket } from 'node:net' */
/** @import { Aedes, Client } from 'aedes' */
/** @import { Logger } from 'pino' */
/** @import { Accounts } from '../../access/credentials/accounts.js' */
/** @import { Account } from '../../access/credentials/permissions.js' */
/** @import { Acknowledgements } from '../../ingest/acknowledgements.js' */
/** @import { PacketLimit } from '../../ingest/backpressure/connection-reader.js' */
/** @import { ReadScheduler } from '../../ingest/backpressure/read-scheduler.js' */

/** Made once: an error with its stack takes 20 µs, and 10,000 connections can break off in one turn of the event loop. */
const CLOSED = new MillraceError('unavailable', 'The connection closed.');

/**
 * What the broker keeps of one connection.
 *
 * @typedef {object} Connection
 * @property {Client} client
 * @property {ConnectionReader} reader
 * @property {Acknowledgements} owed
 * @property {AbortSignal} closed
 * @property {Account | null} account null: it has not signed in
 * @property {Set<string>} filters that it has asked to follow
 * @property {string} [willTopic] where its last will is to go
 */

/**
 * Hands a socket to aedes, which reads and writes it from now on, within the bounds that are ours.
 *
 * @param {Socket} socket
 * @param {object} deps
 * @param {Aedes} deps.aedes
 * @param {ReadScheduler} deps.scheduler
 * @param {number} deps.maxMessageBytes
 * @param {(client: Client, bytes: number) => void} deps.onTooLarge
 * @returns {Connection}
 */
export function openConnection(socket, { aedes, scheduler, maxMessageBytes, onTooLarge }) {
  socket.setNoDelay(true);
  const reader = new ConnectionReader(socket, {
    scheduler,
    packetLimit: packetLimit(maxMessageBytes),
    onTooLarge: (bytes) => onTooLarge(client, bytes),
    isConnected: () => client.connected,
  });
  const client = aedes.handle(socket);
  dropDeepTopics(client);
  const owed = createAcknowledgements();
  const closing = new AbortController();
  // Every message of this connection that waits listens to it.
  setMaxListeners(0, closing.signal);
  socket.on('close', () => {
    owed.drop();
    closing.abort(CLOSED);
  });
  return { client, reader, owed, closed: closing.signal, account: null, filters: new Set() };
}

/** How often connections with unsettled messages are said to be alive, in ms: below the shortest limit, 1.5 s. */
const ALIVE_EVERY_MS = 1000;

/** All connections of the broker. */
export function createConnections() {
  /** @type {WeakMap<Client, Connection>} */
  const known = new WeakMap();
  /** @type {Set<Connection>} */
  const open = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let heartbeat;

  function keepBusyAlive() {
    for (const { reader, client } of open) if (reader.isBusy) keepAlive(client);
  }

  return {
    /** @param {Connection} connection */
    add(connection) {
      known.set(connection.client, connection);
      open.add(connection);
      connection.closed.addEventListener('abort', () => open.delete(connection), { once: true });
    },

    /** @param {Client} client also one that is gone: its last will is still to be settled */
    of: (client) => known.get(client),

    /** Those that are open. @returns {Iterable<Connection>} */
    all: () => open,

    /** From now on the broker does not take for dead who is not read because of us. */
    watch() {
      heartbeat = setInterval(keepBusyAlive, ALIVE_EVERY_MS);
    },

    /** Nothing more is read. */
    quiesce() {
      for (const { reader } of open) reader.stop();
    },

    destroy() {
      clearInterval(heartbeat);
      for (const { client } of open) client.conn.destroy();
    },
  };
}

/** @typedef {ReturnType<typeof createConnections>} Connections */

/** Topic, packet id and properties come on top of a payload that is just within the limit, in bytes. */
const HEADROOM = 66_000;

/**
 * Bytes of a packet that is no PUBLISH, and of the first packet, whose sender is not known yet: a CONNECT with names, a
 * token and a last will of 64 KiB, a SUBSCRIBE to a thousand devices.
 */
const MAX_OTHER_BYTES = 96 * 1024;

/** The type of PUBLISH, in the upper half of the first byte. */
const PUBLISH = 0x30;

/**
 * The broker has no limit of its own.
 *
 * @param {number} maxPayloadBytes
 * @returns {PacketLimit}
 */
export const packetLimit = (maxPayloadBytes) => (firstByte, isFirst) =>
  !isFirst && (firstByte & 0xf0) === PUBLISH ? maxPayloadBytes + HEADROOM : MAX_OTHER_BYTES;

/**
 * Tells aedes that a connection is alive. It closes one from which nothing was read for one and a half times its
 * keepalive (MQTT 3.1.1, 3.1.2-24); while it is we who do not read, that says nothing of the device. aedes has no
 * function for it: `_keepaliveTimer` is its own, and null where there is no keepalive or no connection any more.
 *
 * @param {Client} client
 */
function keepAlive(client) {
  const { _keepaliveTimer } = /** @type {{ _keepaliveTimer?: NodeJS.Timeout | null }} */ (
    /** @type {unknown} */ (client)
  );
  _keepaliveTimer?.refresh();
}

/** One that it uses, one that is half dead and not yet known to be, and as many for who looks on. */
export const MOST_OF_AN_ACCOUNT = 4;

/**
 * Bounds the connections of an account: by ever new client ids, one credential could fill the broker. Of one too many the oldest
 * is closed: a device that comes back finds room, however many of its connections are dead by then. The installation's own
 * account is not bounded.
 *
 * @param {(account: Account) => void} onTooMany
 */
export function createOwnConnections(onTooMany) {
  /** @type {Map<string, Set<Connection>>} by the account's device, oldest first */
  const open = new Map();

  /** @param {string} deviceId @param {Connection} connection */
  function leave(deviceId, connection) {
    const own = open.get(deviceId);
    own?.delete(connection);
    if (own?.size === 0) open.delete(deviceId);
  }

  return {
    /** @param {Connection} connection that has signed in */
    enter(connection) {
      const { account, client, closed } = connection;
      if (!account || account.isInstallation || closed.aborted) return;
      const { deviceId } = account;
      const own = open.get(deviceId) ?? new Set();
      // The broker itself closes one of the same client id.
      const others = [...own].filter((one) => one.client.id !== client.id);
      open.set(deviceId, own.add(connection));
      closed.addEventListener('abort', () => leave(deviceId, connection), { once: true });
      const [oldest] = others;
      if (!oldest || others.length < MOST_OF_AN_ACCOUNT) return;
      onTooMany(account);
      leave(deviceId, oldest);
      oldest.client.conn.destroy();
    },
  };
}

/**
 * Ends the connections of accounts whose credential was rotated or revoked, whichever process did it: all are held against the
 * database now and then, a hundred a request.
 *
 * @param {object} deps
 * @param {() => Iterable<Connection>} deps.connections those that are open
 * @param {Accounts} deps.accounts
 * @param {number} deps.everyMs
 * @param {Logger} deps.logger
 */
export function createRecheck({ connections, accounts, everyMs, logger }) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let isStopped = false;

  /** @param {(connection: Connection) => boolean} isMeant */
  async function look(isMeant) {
    const open = [...connections()].filter((one) => one.account !== null && isMeant(one));
    const outdated = await accounts.outdated(open.flatMap(({ account }) => account ?? []));
    for (const { client, account } of open) {
      if (!account || !outdated.has(account)) continue;
      logger.info({ account: account.name }, 'its credential is good no more; connection closed');
      client.conn.destroy();
    }
  }

  /** @param {(connection: Connection) => boolean} isMeant */
  async function tryToLook(isMeant) {
    try {
      await look(isMeant);
    } catch (error) {
      // The database is away; the next time will do.
      logger.debug({ reason: /** @type {Error} */ (error).message }, 'credentials not checked');
    }
  }

  async function goOn() {
    await tryToLook(() => true);
    start();
  }

  function start() {
    // One after the other, however long one takes.
    if (!isStopped) timer = setTimeout(goOn, everyMs).unref();
  }

  return {
    start,
    /** @param {string} deviceId whose credential has changed @returns {Promise<void>} when its connections are closed */
    now: (deviceId) => tryToLook(({ account }) => account?.deviceId === deviceId),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
