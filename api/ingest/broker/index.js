import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Aedes } from 'aedes';
import { MillraceError } from '../../../common/errors.js';
import { createAcknowledgements } from '../acknowledgements.js';
import { parseTopic } from '../topics.js';
import { createFlow } from './flow.js';
import { keepAlive } from './keepalive.js';
import { createSizeGuard } from './size-guard.js';

/**
 * Where messages outside the contract go instead of their own topic: nobody is served from it, and of all topics only
 * those of `$SYS/` are never queued for sessions that are subscribed to everything.
 */
const DROPPED = '$SYS/dropped';

/**
 * Packets that may wait before a CONNECT is answered; one more closes the connection, and a device that sends without
 * waiting would do the same again. What was read by then, a chunk or two of 64 KiB, holds fewer.
 */
const QUEUE_LIMIT = 65_536;

/** How often connections with unsettled messages are said to be alive, in ms: below the shortest limit, 1.5 s. */
const ALIVE_EVERY_MS = 1000;

/**
 * What the broker keeps of one connection.
 *
 * @typedef {{ flow: import('./flow.js').Flow, owed: import('../acknowledgements.js').Acknowledgements }} Connection
 */

/**
 * The embedded broker: MQTT 3.1.1, its PUBACK to the device waits for the commit. aedes acknowledges once
 * `authorizePublish` calls back, so that is where messages are settled.
 *
 * @param {object} parts
 * @param {import('../../../common/settings.js').Config['mqtt']} parts.mqtt
 * @param {number} parts.maxMessageBytes
 * @param {(message: import('../accept.js').Message) => Promise<void>} parts.accept
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 * @param {import('../../metrics.js').Metrics} parts.metrics
 */
export function createBroker({ mqtt, maxMessageBytes, accept, clock, logger, metrics }) {
  /** @type {WeakMap<object, Connection>} by aedes' client */
  const connections = new WeakMap();
  /** @type {Map<import('node:net').Socket, { flow: import('./flow.js').Flow, client: import('aedes').Client }>} */
  const sockets = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  let heartbeat;

  const aedes = new Aedes({
    queueLimit: QUEUE_LIMIT,
    authenticate: (_client, username, password, done) => done(null, mayConnect(mqtt, username, password)),
    authorizePublish: (client, packet, done) => settle(client, packet, done),
    authorizeSubscribe: (_client, subscription, done) =>
      done(null, subscription.topic.startsWith('$') ? null : subscription),
    authorizeForward: (_client, packet) => (packet.topic === DROPPED ? null : packet),
  });

  /**
   * @param {import('aedes').Client | null} client null for wills of connections that are long gone
   * @param {import('aedes').PublishPacket} packet changed: measurements are never retained
   * @param {(error?: Error | null) => void} done sends the PUBACK
   */
  function settle(client, packet, done) {
    const connection = client && !client.closed ? connections.get(client) : undefined;
    const message = {
      topic: packet.topic,
      payload: Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload),
      retained: false,
      receivedAt: clock(),
    };
    restrict(packet);
    if (!connection) {
      accept(message).then(() => done(), done);
      return;
    }
    const { flow, owed } = connection;
    const size = message.payload.length;
    flow.enter(size);
    const settled = owed.owe(done);
    accept(message).then(
      () => {
        settled();
        flow.leave(size);
      },
      // Never acknowledged: the device comes back and sends it again.
      () => client?.conn.destroy(),
    );
  }

  /** @param {import('node:net').Socket} socket */
  function onConnection(socket) {
    socket.setNoDelay(true);
    const flow = createFlow(
      socket,
      createSizeGuard(maxMessageBytes, (bytes) => {
        metrics.oversized.inc();
        logger.warn({ client: client.id, bytes }, 'a message over MAX_MESSAGE_BYTES; connection closed');
        socket.destroy();
      }),
    );
    const client = aedes.handle(socket);
    sockets.set(socket, { flow, client });
    socket.on('close', () => sockets.delete(socket));
    const owed = createAcknowledgements();
    connections.set(client, { flow, owed });
    socket.on('close', () => owed.drop());
  }

  function keepBusyAlive() {
    for (const { flow, client } of sockets.values()) if (flow.busy) keepAlive(client);
  }

  const server = createServer(onConnection);
  aedes.on('clientError', (client, error) =>
    logger.debug({ client: client.id, reason: error.message }, 'client'),
  );
  aedes.on('connectionError', (_client, error) => logger.debug({ reason: error.message }, 'connection'));

  return {
    /** @returns {Promise<void>} @throws {MillraceError} `port_taken` */
    async start() {
      await aedes.listen();
      heartbeat = setInterval(keepBusyAlive, ALIVE_EVERY_MS);
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
      server.close();
      for (const { flow } of sockets.values()) flow.stop();
    },

    async stop() {
      clearInterval(heartbeat);
      server.close();
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise((resolve) => aedes.close(() => resolve(undefined)));
    },

    /** @returns {number} the port that it listens on */
    get port() {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : 0;
    },

    check: () =>
      server.listening
        ? { ok: true, says: `${aedes.connectedClients} clients` }
        : { ok: false, says: 'does not listen' },
  };
}

/** @typedef {ReturnType<typeof createBroker>} Broker */

/**
 * What other clients get to see: the contract's topics, measurements never retained.
 *
 * @param {import('aedes').PublishPacket} packet is changed
 */
function restrict(packet) {
  const topic = parseTopic(packet.topic);
  if (topic?.kind === 'status') return;
  packet.retain = false;
  if (!topic) packet.topic = DROPPED;
}

/**
 * @param {import('../../../common/settings.js').Config['mqtt']} mqtt
 * @param {string | undefined} givenName
 * @param {Buffer | undefined} givenPassword
 */
function mayConnect({ auth, username, password }, givenName, givenPassword) {
  if (!auth) return true;
  return same(givenName ?? '', username ?? '') && same(givenPassword ?? '', password ?? '');
}

/** In constant time, whatever the lengths. @param {string | Buffer} a @param {string | Buffer} b */
const same = (a, b) => timingSafeEqual(digest(a), digest(b));

/** @param {string | Buffer} text */
const digest = (text) => createHash('sha256').update(text).digest();
