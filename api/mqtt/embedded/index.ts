import { setImmediate as nextTurn } from 'node:timers/promises';
import { WAITED } from '../../live/index.js';
import { ClientDeliveries } from '../acknowledgements.js';
import { AccessNotices, createAuthentication } from './authentication.js';
import { createAuthorization } from './authorization.js';
import { Connections, CredentialRecheck, maximumPacketSize, openConnection } from './connections.js';
import { Followers } from './followers.js';
import { LIMITS, Listener } from './listener.js';
import { isTooLargeFor, RECEIVE_MAXIMUM, SessionlessBroker } from './mqtt5.js';
import { ReadScheduler } from './reading/read-scheduler.js';
import { Persistence } from './retained.js';
import { createSettling, DROPPED, releaseOnPubrel } from './settling.js';

/** @import { Socket } from 'node:net' */
/** @import { Aedes, AuthorizeForwardHandler, Client } from 'aedes' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Bounds } from '../../access/connection-limits.js' */
/** @import { Accounts } from '../../access/credentials/accounts.js' */
/** @import { OwnCertificate } from '../../access/tls/certificate-reload.js' */
/** @import { ByteBudget } from '../../ingest/admission/byte-budget.js' */
/** @import { HandleMessage, Send } from '../../ingest/pipeline.js' */
/** @import { Host } from '../../ingest/sparkplug/host.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Connection } from './connections.js' */

/**
 * Creates the embedded broker for MQTT 3.1.1 and 5. Its PUBACK to the device waits for the commit. Other clients may
 * subscribe. They receive messages only while they are connected and read fast enough, because there are no persistent
 * sessions (`retained.js`).
 *
 * @param {object} deps
 * @param {Config['mqtt']} deps.mqtt
 * @param {OwnCertificate | null} [deps.tls] default: no TLS
 * @param {Accounts} deps.accounts
 * @param {number} deps.recheckMs interval at which the credentials of open connections are checked
 * @param {Host | null} deps.host null: this process does not handle Sparkplug
 * @param {number} deps.maxMessageBytes
 * @param {HandleMessage} deps.handleMessage
 * @param {ByteBudget} deps.room byte budget for messages
 * @param {() => number} deps.clock epoch ms
 * @param {Logger} deps.logger
 * @param {Metrics} deps.metrics
 * @param {Bounds} [deps.bounds]
 */
export function createBroker(deps) {
  const { mqtt, accounts, host, maxMessageBytes, handleMessage, clock, logger, metrics } = deps;
  const connections = new Connections();
  const scheduler = new ReadScheduler(deps.room);
  /** Settles when the offline state of the Sparkplug host is published. */
  let stateSent = Promise.resolve();
  const connectionOf = (/** @type {Client} */ client) => connections.of(client);
  const notices = new AccessNotices({ logger });
  const authorization = createAuthorization({ connectionOf, notices, metrics });
  const recheck = new CredentialRecheck({
    connections: () => connections.all(),
    accounts,
    everyMs: deps.recheckMs,
    logger,
  });

  const persistence = new Persistence();
  const deliveries = new ClientDeliveries();
  const deliveriesOf = (/** @type {Connection} */ connection) => {
    connection.deliveries ??= deliveries.open(connection.client.id, connection.closed);
    return connection.deliveries;
  };
  const aedes = new SessionlessBroker({
    persistence,
    ...LIMITS,
    maximumPacketSize: maximumPacketSize(maxMessageBytes),
    receiveMaximum: RECEIVE_MAXIMUM,
    ...createAuthentication({ accounts, connectionOf, authorization, notices, metrics }),
    authorizePublish: createSettling({
      handleMessage,
      clock,
      connectionOf,
      canPublish: authorization.canPublish,
      canSendFor: authorization.canSendFor,
      deliveriesOf,
      halfOpen: (client) => persistence.halfOpen(client),
      forward: (packet, client) => aedes.publishFrom(client, packet),
      metrics,
    }),
    authorizeSubscribe: authorization.authorizeSubscribe,
    authorizeForward: forwarding(
      (client, topic) => followers.takes(client, topic),
      () => metrics.forwardsDropped.inc(),
    ),
  });

  const followers = new Followers(aedes);

  /** @param {Socket} socket */
  function onConnection(socket) {
    const connection = openConnection(socket, {
      aedes,
      scheduler,
      maxMessageBytes,
      onTooLarge({ id }, bytes, isClosed) {
        metrics.oversized.inc();
        logger.warn(
          { client: id, bytes },
          isClosed
            ? 'a packet over its limit (MAX_MESSAGE_BYTES for PUBLISH, 96 KiB for others); connection closed'
            : 'a message over MAX_MESSAGE_BYTES becomes a dead letter; raise MAX_MESSAGE_BYTES or send smaller messages',
        );
      },
    });
    releaseOnPubrel(connection.client, (id) => deliveriesOf(connection).release(id));
    connections.add(connection);
  }

  /** @param {{ topic: string, payload: Buffer, qos: 0 | 1, retain: boolean, properties?: object }} message @returns {Promise<void>} settles after forwarding */
  const publish = (message) =>
    new Promise((resolve) => aedes.publish({ cmd: 'publish', dup: false, ...message }, () => resolve()));

  const listener = new Listener({ ...deps, onConnection });
  aedes.on('client', ({ conn }) => listener.pass(/** @type {Socket} */ (conn)));
  aedes.on('subscribe', (subscriptions, client) => {
    const connection = connectionOf(client);
    if (connection) persistence.noteSubscriber(client, connection.closed, subscriptions);
  });
  aedes.on('unsubscribe', authorization.unsubscribed);
  aedes.on('clientError', (client, error) =>
    logger.debug({ client: client.id, reason: error.message }, 'client'),
  );
  aedes.on('connectionError', (_client, error) => logger.debug({ reason: error.message }, 'connection'));

  return {
    /** @returns {Promise<void>} @throws {MillraceError} `port_taken` */
    async start() {
      await aedes.listen();
      if (host) await Promise.all([publish(host.birth()), publish(host.stateOfVersion2(true))]);
      connections.watch();
      if (mqtt.auth) recheck.start();
      await listener.start();
    },

    /** Stops accepting messages. Unsettled messages may settle until `stop`. */
    quiesce() {
      if (host)
        stateSent = Promise.all([publish(host.death()), publish(host.stateOfVersion2(false))]).then(() => {});
      listener.close();
      connections.quiesce();
    },

    async stop() {
      recheck.stop();
      listener.close();
      await stateSent;
      // aedes writes forwarded messages at the end of this iteration of the event loop, so the connections must stay open until then.
      await nextTurn();
      connections.destroy();
      listener.destroy();
      await new Promise((resolve) => aedes.close(() => resolve(undefined)));
    },

    /** @type {Send} */
    send: (topic, payload, retain = false, waited = undefined) =>
      void publish({ topic, payload, qos: 0, retain, ...waitedProperty(waited) }),

    /** Checks the connections of a device whose credential has changed. @param {string} deviceId */
    recheck: (deviceId) => recheck.now(deviceId),

    followers,

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

/**
 * @param {number | undefined} waited ms since the commit of the oldest value in a message
 * @returns {{ properties?: object }} the user property for subscribers of MQTT 5
 */
const waitedProperty = (waited) =>
  waited === undefined ? {} : { properties: { userProperties: { [WAITED]: String(Math.round(waited)) } } };

/** @param {number} count */
const clientsText = (count) => (count === 1 ? '1 client' : `${count} clients`);

/**
 * Creates the function that drops messages to a client that reads too slowly. Otherwise these messages would stay in memory until the
 * client reads or its connection closes, because ingest never waits for a subscriber.
 *
 * @param {(client: Client, topic: string) => boolean} takes
 * @param {() => void} onFull
 * @returns {AuthorizeForwardHandler}
 */
const forwarding = (takes, onFull) => (client, packet) => {
  if (packet.topic === DROPPED || !takes(client, packet.topic) || isTooLargeFor(client, packet)) return null;
  if (!client.conn.writableNeedDrain) return packet;
  onFull();
  return null;
};
