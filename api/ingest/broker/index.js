import { setImmediate as nextTurn } from 'node:timers/promises';
import { Aedes } from 'aedes';
import { ReadScheduler } from '../backpressure/read-scheduler.js';
import { createAccessNotices } from './access-notices.js';
import { createAuthentication } from './authentication.js';
import { createAuthorization } from './authorization.js';
import { openConnection } from './connection.js';
import { createConnections } from './connections.js';
import { createFollowers } from './followers.js';
import { forwarding } from './forwarding.js';
import { LIMITS } from './limits.js';
import { createListener } from './listener.js';
import { createPersistence } from './persistence.js';
import { createRecheck } from './recheck.js';
import { createSettling } from './settling.js';

/**
 * The embedded broker: MQTT 3.1.1, its PUBACK to the device waits for the commit. Others may subscribe, and get what
 * comes while they are there and keep up; there are no sessions (`persistence.js`).
 *
 * @param {object} parts
 * @param {import('../../../common/settings/index.js').Config['mqtt']} parts.mqtt
 * @param {import('../../tls/own-certificate.js').OwnCertificate | null} [parts.tls] default: it speaks without TLS
 * @param {import('../../credentials/accounts.js').Accounts} parts.accounts
 * @param {number} parts.recheckMs so often those that are connected are held against their credentials
 * @param {import('../sparkplug/host.js').Host | null} parts.host null: Sparkplug is not taken
 * @param {number} parts.maxMessageBytes
 * @param {import('../pipeline.js').HandleMessage} parts.handleMessage
 * @param {import('../backpressure/byte-budget.js').ByteBudget} parts.room for messages
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 * @param {import('../../metrics.js').Metrics} parts.metrics
 * @param {import('../../connection-bounds.js').Bounds} [parts.bounds]
 */
export function createBroker(parts) {
  const { mqtt, accounts, host, maxMessageBytes, handleMessage, clock, logger, metrics } = parts;
  const connections = createConnections();
  const scheduler = new ReadScheduler(parts.room);
  let farewell = Promise.resolve();
  const connectionOf = connections.of;
  const notices = createAccessNotices({ logger });
  const authorization = createAuthorization({ connectionOf, notices, metrics });
  const recheck = createRecheck({
    connections: connections.all,
    accounts,
    everyMs: parts.recheckMs,
    logger,
  });

  const aedes = new Aedes({
    persistence: createPersistence(),
    ...LIMITS,
    ...createAuthentication({ accounts, connectionOf, authorization, notices, metrics }),
    authorizePublish: createSettling({
      handleMessage,
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
      scheduler,
      maxMessageBytes,
      onTooLarge({ id }, bytes) {
        metrics.oversized.inc();
        logger.warn(
          { client: id, bytes },
          'a message over MAX_MESSAGE_BYTES, or another packet over 96 KiB; connection closed',
        );
      },
    });
    connections.add(connection);
  }

  /** @param {{ topic: string, payload: Buffer, qos: 0 | 1, retain: boolean }} message @returns {Promise<void>} when it is handed out */
  const publish = (message) =>
    new Promise((resolve) => aedes.publish({ cmd: 'publish', dup: false, ...message }, () => resolve()));

  const followers = createFollowers(aedes);
  const listener = createListener({ ...parts, onConnection });
  aedes.on('client', ({ conn }) => listener.pass(/** @type {import('node:net').Socket} */ (conn)));
  aedes.on('unsubscribe', authorization.unsubscribed);
  aedes.on('clientError', (client, error) =>
    logger.debug({ client: client.id, reason: error.message }, 'client'),
  );
  aedes.on('connectionError', (_client, error) => logger.debug({ reason: error.message }, 'connection'));

  return {
    /** @returns {Promise<void>} @throws {MillraceError} `port_taken` */
    async start() {
      await aedes.listen();
      if (host) await publish(host.birth());
      connections.watch();
      if (mqtt.auth) recheck.start();
      await listener.start();
    },

    /** Takes no more messages; what is being settled goes on until `stop`. */
    quiesce() {
      if (host) farewell = publish(host.death());
      listener.close();
      connections.quiesce();
    },

    async stop() {
      recheck.stop();
      listener.close();
      await farewell;
      // What was handed out is written at the end of this turn of the event loop.
      await nextTurn();
      connections.destroy();
      listener.destroy();
      await new Promise((resolve) => aedes.close(() => resolve(undefined)));
    },

    /** @type {import('../intake.js').Send} */
    send: (topic, payload) => void publish({ topic, payload, qos: 0, retain: false }),

    recheck: recheck.now,

    /** Whether any client follows `iot/live/...`. */
    get hasFollowers() {
      return followers.any;
    },

    get port() {
      return listener.port;
    },

    check: () =>
      listener.isListening
        ? { ok: true, says: clientsText(aedes.connectedClients) }
        : { ok: false, says: 'does not listen' },
  };
}

/** @typedef {ReturnType<typeof createBroker>} Broker */

/** @param {number} count */
const clientsText = (count) => (count === 1 ? '1 client' : `${count} clients`);
