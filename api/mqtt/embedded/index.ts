import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuthorizeForwardHandler, Client } from 'aedes';
import type { Logger } from 'pino';
import type { Config } from '../../../common/settings/config.ts';
import type { Accounts } from '../../access/accounts.ts';
import type { Bounds } from '../../access/connection-limits.ts';
import type { OwnCertificate } from '../../access/tls/certificate-reload.ts';
import type { ByteBudget } from '../../ingest/admission/byte-budget.ts';
import type { HandleMessage } from '../../ingest/pipeline.ts';
import type { PresenceMessages, Topics } from '../../ingest/topics.ts';
import { WAITED } from '../../live/index.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { ClientDeliveries } from '../acknowledgements.ts';
import { Answers, DROPPED } from './answers.ts';
import { AccessNotices, createAuthentication } from './authentication.ts';
import { createAuthorization } from './authorization.ts';
import { type Connection, Connections, maximumPacketSize, openConnection } from './connections.ts';
import { Followers } from './followers.ts';
import { LIMITS, Listener } from './listener.ts';
import { isTooLargeFor, RECEIVE_MAXIMUM, SessionlessBroker } from './mqtt5.ts';
import { ReadScheduler } from './reading/read-scheduler.ts';
import { Persistence } from './retained.ts';
import { releaseOnPubrel, Settling } from './settling.ts';

/** Other clients receive messages only while they are connected, because there are no persistent sessions (`retained.ts`). */
export function createBroker(deps: {
  mqtt: Config['mqtt'];
  tls?: OwnCertificate | null;
  accounts: Accounts;
  /** of features */
  topics: Pick<Topics, 'presence' | 'readRules' | 'contract' | 'hint'>;
  maxMessageBytes: number;
  handleMessage: HandleMessage;
  room: ByteBudget;
  /** epoch ms */
  clock: () => number;
  logger: Logger;
  metrics: Metrics;
  bounds?: Bounds;
}) {
  const { accounts, topics, maxMessageBytes, handleMessage, clock, logger, metrics } = deps;
  const parseTopic = topics.contract.parse;
  const connections = new Connections();
  const scheduler = new ReadScheduler(deps.room);
  const connectionOf = (client: Client) => connections.of(client);
  const notices = new AccessNotices({ logger });
  const authorization = createAuthorization({
    connectionOf,
    readRules: topics.readRules,
    notices,
    metrics,
  });

  const persistence = new Persistence();
  const deliveries = new ClientDeliveries();
  const deliveriesOf = (connection: Connection) => {
    connection.deliveries ??= deliveries.open(connection.client.id, connection.closed);
    return connection.deliveries;
  };
  const aedes = new SessionlessBroker({
    persistence,
    ...LIMITS,
    maximumPacketSize: maximumPacketSize(maxMessageBytes),
    receiveMaximum: RECEIVE_MAXIMUM,
    ...createAuthentication({ accounts, parseTopic, connectionOf, authorization, notices, metrics }),
    authorizePublish: new Settling({
      parseTopic,
      handleMessage,
      clock,
      connectionOf,
      canPublish: authorization.canPublish,
      canSendFor: authorization.canSendFor,
      deliveriesOf,
      answers: new Answers({
        deliveriesOf,
        halfOpen: (client) => persistence.halfOpen(client),
        forward: (packet, client) => aedes.publishFrom(client, packet),
        metrics,
        topics,
      }),
      metrics,
    }).authorizePublish,
    authorizeSubscribe: authorization.authorizeSubscribe,
    authorizeForward: forwarding(
      (client, topic) => followers.takes(client, topic),
      () => metrics.forwardsDropped.inc(),
    ),
  });

  const followers = new Followers(aedes);

  function onConnection(socket: Socket) {
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

  const listener = new Listener({ ...deps, onConnection });
  observeClients(aedes, { listener, connectionOf, persistence, authorization, logger });
  return new Broker({
    aedes,
    listener,
    connections,
    followers,
    presence: topics.presence,
  });
}

function observeClients(
  aedes: SessionlessBroker,
  parts: {
    listener: Listener;
    connectionOf: (client: Client) => Connection | undefined;
    persistence: Persistence;
    authorization: ReturnType<typeof createAuthorization>;
    logger: Logger;
  },
) {
  const { listener, connectionOf, persistence, authorization, logger } = parts;
  aedes.on('client', ({ conn }) => listener.pass(conn as Socket));
  aedes.on('subscribe', (subscriptions, client) => {
    const connection = connectionOf(client);
    if (connection) persistence.noteSubscriber(client, connection.closed, subscriptions);
  });
  aedes.on('unsubscribe', authorization.unsubscribed);
  aedes.on('clientError', (client, error) =>
    logger.debug({ client: client.id, reason: error.message }, 'client'),
  );
  aedes.on('connectionError', (_client, error) => logger.debug({ reason: error.message }, 'connection'));
}

export class Broker {
  #aedes;
  #listener;
  #connections;
  #presence;
  #stateSent = Promise.resolve();
  /** aedes can publish only from then on */
  #isListening = false;
  followers;

  constructor(parts: {
    aedes: SessionlessBroker;
    listener: Listener;
    connections: Connections;
    followers: Followers;
    presence: PresenceMessages | null;
  }) {
    this.#aedes = parts.aedes;
    this.#listener = parts.listener;
    this.#connections = parts.connections;
    this.followers = parts.followers;
    this.#presence = parts.presence;
  }

  /** @throws `port_taken` */
  async start(): Promise<void> {
    await this.#aedes.listen();
    this.#isListening = true;
    if (this.#presence)
      await this.#publishAll([this.#presence.birth(), ...this.#presence.furtherStates(true)]);
    this.#connections.watch();
    await this.#listener.start();
  }

  quiesce() {
    if (this.#presence && this.#isListening)
      this.#stateSent = this.#publishAll([this.#presence.death(), ...this.#presence.furtherStates(false)]);
    this.#listener.close();
    this.#connections.quiesce();
  }

  async stop() {
    this.#listener.close();
    await this.#stateSent;
    // aedes writes forwarded messages at the end of this iteration of the event loop, so connections must stay open until then.
    await nextTurn();
    this.#connections.destroy();
    this.#listener.destroy();
    await new Promise((resolve) => this.#aedes.close(() => resolve(undefined)));
  }

  send(topic: string, payload: Buffer, retain = false, waited?: number): void {
    void this.#publish({ topic, payload, qos: 0, retain, ...waitedProperty(waited) });
  }

  get port() {
    return this.#listener.port;
  }

  check() {
    return this.#listener.isListening
      ? { ok: true, message: clientsText(this.#aedes.connectedClients) }
      : { ok: false, message: 'does not listen' };
  }

  async #publishAll(messages: Published[]) {
    await Promise.all(messages.map((message) => this.#publish(message)));
  }

  #publish(message: Published): Promise<void> {
    return new Promise((resolve) =>
      this.#aedes.publish({ cmd: 'publish', dup: false, ...message }, () => resolve()),
    );
  }
}

type Published = { topic: string; payload: Buffer; qos: 0 | 1; retain: boolean; properties?: object };

/** `waited`: ms since the commit of the oldest value in a message */
const waitedProperty = (waited: number | undefined): { properties?: object } =>
  waited === undefined ? {} : { properties: { userProperties: { [WAITED]: String(Math.round(waited)) } } };

const clientsText = (count: number) => (count === 1 ? '1 client' : `${count} clients`);

/** Drops messages to a client that reads too slowly. They would stay in memory, because ingest never waits for a subscriber. */
const forwarding =
  (takes: (client: Client, topic: string) => boolean, onFull: () => void): AuthorizeForwardHandler =>
  (client, packet) => {
    if (packet.topic === DROPPED || !takes(client, packet.topic) || isTooLargeFor(client, packet))
      return null;
    if (!client.conn.writableNeedDrain) return packet;
    onFull();
    return null;
  };
