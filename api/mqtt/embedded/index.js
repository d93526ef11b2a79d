import { setImmediate as nextTurn } from 'node:timers/promises';
import { Aedes } from 'aedes';
import { ReadScheduler } from '../../ingest/backpressure/read-scheduler.js';
import { reachesLive } from '../../live/messages.js';
import { createAccessNotices, createAuthentication } from './authentication.js';
import { createAuthorization } from './authorization.js';
import { createConnections, createRecheck, openConnection } from './connections.js';
import { createListener, LIMITS } from './listener.js';
import { createPersistence } from './retained.js';
import { createSettling, DROPPED } from './settling.js';

/** @import { Socket } from 'node:net' */
/** @import { AuthorizeForwardHandler, Client } from 'aedes' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Bounds } from '../../access/connection-limits.js' */
/** @import { Accounts } from '../../access/credentials/accounts.js' */
/** @import { OwnCertificate } from '../../access/tls/own-certificate.js' */
/** @import { ByteBudget } from '../../ingest/backpressure/byte-budget.js' */
/** @import { HandleMessage, Send } from '../../ingest/pipeline.js' */
/** @import { Host } from '../../ingest/sparkplug/host.js' */
/** @import { Metrics } from '../../observability/metrics.js' */

/**
 * The embedded broker for MQTT 3.1.1. Its PUBACK to the device waits for the commit. Other clients may subscribe. They receive
 * messages while they are connected and read fast enough, because there are no sessions (`retained.js`).
 *
 * @param {object} deps
 * @param {Config['mqtt']} deps.mqtt
 * @param {OwnCertificate | null} [deps.tls] default: no TLS
 * @param {Accounts} deps.accounts
 * @param {number} deps.recheckMs interval at which the credentials of open connections are checked
 * @param {Host | null} deps.host null: this process does not handle Sparkplug
 * @param {number} deps.maxMessageBytes
 * @param {HandleMessage} deps.handleMessage
 * @param {ByteBudget} deps.room for messages
 * @param {() => number} deps.clock epoch ms
 * @param {Logger} deps.logger
 * @param {Metrics} deps.metrics
 * @param {Bounds} [deps.bounds]
 */
export function createBroker(deps) {
  const { mqtt, accounts, host, maxMessageBytes, handleMessage, clock, logger, metrics } = deps;
  const connections = createConnections();
  const scheduler = new ReadScheduler(deps.room);
  /** Settles when the offline state is published. */
  let stateSent = Promise.resolve();
  const connectionOf = connections.of;
  const notices = createAccessNotices({ logger });
  const authorization = createAuthorization({ connectionOf, notices, metrics });
  const recheck = createRecheck({
    connections: connections.all,
    accounts,
    everyMs: deps.recheckMs,
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
      canPublish: authorization.canPublish,
      metrics,
    }),
    authorizeSubscribe: authorization.authorizeSubscribe,
    authorizeForward: forwarding(() => metrics.forwardsDropped.inc()),
  });

  /** @param {Socket} socket */
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

  /** @param {{ topic: string, payload: Buffer, qos: 0 | 1, retain: boolean }} message @returns {Promise<void>} settles when aedes has forwarded it */
  const publish = (message) =>
    new Promise((resolve) => aedes.publish({ cmd: 'publish', dup: false, ...message }, () => resolve()));

  const listener = createListener({ ...deps, onConnection });
  aedes.on('client', ({ conn }) => listener.pass(/** @type {Socket} */ (conn)));
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

    /** Accepts no more messages. Messages under way may settle until `stop`. */
    quiesce() {
      if (host) stateSent = publish(host.death());
      listener.close();
      connections.quiesce();
    },

    async stop() {
      recheck.stop();
      listener.close();
      await stateSent;
      // aedes writes forwarded messages at the end of this turn of the event loop.
      await nextTurn();
      connections.destroy();
      listener.destroy();
      await new Promise((resolve) => aedes.close(() => resolve(undefined)));
    },

    /** @type {Send} */
    send: (topic, payload) => void publish({ topic, payload, qos: 0, retain: false }),

    recheck: recheck.now,

    hasFollowers: followersOf(aedes),

    get port() {
      return listener.port;
    },

    check: () =>
      listener.isListening
        ? { ok: true, message: clientsText(aedes.connectedClients) }
        : { ok: false, message: 'does not listen' },
  };
}

/** @typedef {ReturnType<typeof createBroker>} Broker */

/** @param {number} count */
const clientsText = (count) => (count === 1 ? '1 client' : `${count} clients`);

/**
 * Watches who subscribes to live changes. While nobody does, the process need not publish them.
 *
 * @param {Aedes} aedes
 * @returns {() => boolean} whether any client subscribes to `iot/live/...`
 */
function followersOf(aedes) {
  /** By client, its filters that match live topics. @type {Map<Client, Set<string>>} */
  const followers = new Map();

  aedes.on('subscribe', (subscriptions, client) => {
    if (client.closed) return;
    for (const { topic, qos } of subscriptions) {
      // MQTT 3.1.1, 3.9.3: the broker refused the subscription.
      if (/** @type {number} */ (qos) === 128 || !reachesLive(topic)) continue;
      const filters = followers.get(client) ?? new Set();
      followers.set(client, filters.add(topic));
    }
  });
  aedes.on('unsubscribe', (unsubscribed, client) => {
    const filters = followers.get(client);
    if (!filters) return;
    for (const filter of unsubscribed) filters.delete(filter);
    if (filters.size === 0) followers.delete(client);
  });
  aedes.on('clientDisconnect', (client) => followers.delete(client));

  return () => followers.size > 0;
}

/**
 * Drops messages to a client that reads too slowly. Otherwise they would stay in memory until the client reads or its connection
 * closes. Ingest never waits for a reader.
 *
 * @param {() => void} onFull
 * @returns {AuthorizeForwardHandler}
 */
const forwarding = (onFull) => (client, packet) => {
  if (packet.topic === DROPPED) return null;
  if (!client.conn.writableNeedDrain) return packet;
  onFull();
  return null;
};
