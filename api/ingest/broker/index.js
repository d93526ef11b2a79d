import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { Aedes } from 'aedes';
import { MillraceError } from '../../../common/errors.js';
import { boundConnections } from '../../connection-bounds.js';
import { socketsOf } from '../../tls/sockets.js';
import { createAccessNotices } from './access-notices.js';
import { createAuthentication } from './authentication.js';
import { createAuthorization } from './authorization.js';
import { openConnection } from './connection.js';
import { createFollowers } from './followers.js';
import { keepAlive } from './keepalive.js';
import { createPersistence } from './persistence.js';
import { createRecheck } from './recheck.js';
import { DROPPED } from './restriction.js';
import { createSettling } from './settling.js';
import { createTurns } from './turns.js';

/**
 * Packets that may wait before a CONNECT is answered; one more closes the connection, and a device that sends without
 * waiting would do the same again. What was read by then, a chunk or two of 64 KiB, holds fewer.
 */
const QUEUE_LIMIT = 65_536;

/** Every packet id of MQTT: of a message of QoS 2 that waits for its PUBREL, no more than the id is kept. */
const PACKET_IDS = 65_535;

/** How often connections with unsettled messages are said to be alive, in ms: below the shortest limit, 1.5 s. */
const ALIVE_EVERY_MS = 1000;

/**
 * A fleet that comes back at once has thousands of connections that are not answered yet; a CONNECT takes a second of a
 * busy process at most.
 *
 * @type {import('../../connection-bounds.js').Bounds}
 */
const BOUNDS = { connections: 20_000, pending: 4096, withinMs: 10_000 };

/** A connection that takes nothing of what is written to it for this long is closed, in ms. */
const DRAIN_TIMEOUT_MS = 5000;

/**
 * The embedded broker: MQTT 3.1.1, its PUBACK to the device waits for the commit. Others may subscribe, and get what
 * comes while they are there and keep up; there are no sessions (`persistence.js`).
 *
 * @param {object} parts
 * @param {import('../../../common/settings.js').Config['mqtt']} parts.mqtt
 * @param {import('../../tls/own-certificate.js').OwnCertificate | null} [parts.tls] default: it speaks without TLS
 * @param {import('../../credentials/accounts.js').Accounts} parts.accounts
 * @param {number} parts.recheckMs so often those that are connected are held against their credentials
 * @param {import('../sparkplug/host.js').Host | null} parts.host null: Sparkplug is not taken
 * @param {number} parts.maxMessageBytes
 * @param {import('../accept.js').Accept} parts.accept
 * @param {import('../budget.js').Room} parts.room for messages
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 * @param {import('../../metrics.js').Metrics} parts.metrics
 * @param {import('../../connection-bounds.js').Bounds} [parts.bounds]
 */
export function createBroker(parts) {
  const {
    mqtt,
    tls = null,
    accounts,
    recheckMs,
    host,
    maxMessageBytes,
    accept,
    room,
    clock,
    logger,
    metrics,
    bounds = BOUNDS,
  } = parts;
  /** @type {WeakMap<import('aedes').Client, import('./connection.js').Connection>} */
  const connections = new WeakMap();
  /** @type {Map<import('node:net').Socket, import('./connection.js').Connection>} those that are open */
  const sockets = new Map();
  const turns = createTurns(room);
  /** @type {NodeJS.Timeout | undefined} */
  let heartbeat;
  let farewell = Promise.resolve();
  const connectionOf = (/** @type {import('aedes').Client} */ client) => connections.get(client);
  const notices = createAccessNotices({ logger });
  const authorization = createAuthorization({ connectionOf, notices, metrics });
  const recheck = createRecheck({
    connections: () => sockets.values(),
    accounts,
    everyMs: recheckMs,
    logger,
  });

  const aedes = new Aedes({
    persistence: createPersistence(),
    queueLimit: QUEUE_LIMIT,
    maxInflightInbound: PACKET_IDS,
    drainTimeout: DRAIN_TIMEOUT_MS,
    ...createAuthentication({ accounts, connectionOf, authorization, notices, metrics }),
    authorizePublish: createSettling({
      accept,
      clock,
      connectionOf,
      mayPublish: authorization.mayPublish,
      metrics,
    }),
    authorizeSubscribe: authorization.authorizeSubscribe,
    authorizeForward: forwarding(() => metrics.forwardsDropped.inc()),
  });

  /** @param {import('node:net').Socket} socket */
  function onConnection(socket) {
    const connection = openConnection(socket, {
      aedes,
      turns,
      maxMessageBytes,
      onTooLarge({ id }, bytes) {
        metrics.oversized.inc();
        logger.warn(
          { client: id, bytes },
          'a message over MAX_MESSAGE_BYTES, or a CONNECT over 96 KiB; connection closed',
        );
      },
    });
    connections.set(connection.client, connection);
    sockets.set(socket, connection);
    socket.on('close', () => sockets.delete(socket));
  }

  function keepBusyAlive() {
    for (const { flow, client } of sockets.values()) if (flow.busy) keepAlive(client);
  }

  /** @param {{ topic: string, payload: Buffer, qos: 0 | 1, retain: boolean }} message @returns {Promise<void>} when it is handed out */
  const publish = (message) =>
    new Promise((resolve) => aedes.publish({ cmd: 'publish', dup: false, ...message }, () => resolve()));

  const followers = createFollowers(aedes);
  const server = tls ? createTlsServer(tls.options, onConnection) : createServer(onConnection);
  tls?.renewOn(server);
  const unencrypted = socketsOf(server);
  server.on('tlsClientError', (error) => logger.debug({ reason: error.message }, 'TLS'));
  const pending = boundConnections(server, 'mqtt', bounds, metrics);
  aedes.on('client', ({ conn }) => pending.pass(/** @type {import('node:net').Socket} */ (conn)));
  aedes.on('clientError', (client, error) =>
    logger.debug({ client: client.id, reason: error.message }, 'client'),
  );
  aedes.on('connectionError', (_client, error) => logger.debug({ reason: error.message }, 'connection'));

  return {
    /** @returns {Promise<void>} @throws {MillraceError} `port_taken` */
    async start() {
      await aedes.listen();
      if (host) await publish(host.birth());
      heartbeat = setInterval(keepBusyAlive, ALIVE_EVERY_MS);
      if (mqtt.auth) recheck.start();
      server.listen(mqtt.port, mqtt.host);
      try {
        await once(server, 'listening');
      } catch (error) {
        throw new MillraceError(
          'port_taken',
          `The embedded broker cannot listen on ${mqtt.host}:${mqtt.port}: ${/** @type {Error} */ (error).message}. Set MQTT_PORT to a free port, or MQTT_URL to the broker that is there.`,
          { cause: error },
        );
      }
    },

    /** Takes no more messages; what is being settled goes on until `stop`. */
    quiesce() {
      if (host) farewell = publish(host.death());
      server.close();
      for (const { flow } of sockets.values()) flow.stop();
    },

    async stop() {
      clearInterval(heartbeat);
      recheck.stop();
      server.close();
      await farewell;
      // What was handed out is written at the end of this turn of the event loop.
      await nextTurn();
      for (const socket of sockets.keys()) socket.destroy();
      unencrypted.destroy();
      await new Promise((resolve) => aedes.close(() => resolve(undefined)));
    },

    /** @type {import('../intake.js').Send} */
    send: (topic, payload) => void publish({ topic, payload, qos: 0, retain: false }),

    recheck: recheck.now,

    /** Whether any client follows `iot/live/...`. */
    get hasFollowers() {
      return followers.any;
    },

    /** @returns {number} the port that it listens on */
    get port() {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : 0;
    },

    check: () =>
      server.listening
        ? { ok: true, says: clientsText(aedes.connectedClients) }
        : { ok: false, says: 'does not listen' },
  };
}

/** @typedef {ReturnType<typeof createBroker>} Broker */

/** @param {number} count */
const clientsText = (count) => (count === 1 ? '1 client' : `${count} clients`);

/**
 * Not to a client whose connection is full: what is written to it is kept in memory until it reads, or is closed for
 * that. Ingest never waits for a reader.
 *
 * @param {() => void} onFull
 * @returns {import('aedes').AuthorizeForwardHandler}
 */
const forwarding = (onFull) => (client, packet) => {
  if (packet.topic === DROPPED) return null;
  if (!client.conn.writableNeedDrain) return packet;
  onFull();
  return null;
};
