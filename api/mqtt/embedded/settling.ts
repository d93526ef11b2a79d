import type { EventEmitter } from 'node:events';
import type { Client, PublishPacket } from 'aedes';
import { MillraceError } from '../../../common/errors.ts';
import { parseTopic, type Topic } from '../../../schema/topics.ts';
import { PayloadMemory } from '../../ingest/admission/index.ts';
import type { HandleMessage, Message, Outcome } from '../../ingest/pipeline.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Refusals } from '../../store/dead-letters/writes.ts';
import type { Deliveries } from '../acknowledgements.ts';
import type { Connection } from './connections.ts';
import {
  type Answer,
  acknowledgeWith,
  answerTo,
  disconnect,
  FIRST_ERROR,
  isLeaving,
  REASONS,
  RECEIVE_MAXIMUM,
} from './mqtt5.ts';

/** Backpressure cannot limit wills, because their connection is closed. Enough for 16,000 devices; above it a will is lost. */
const MAX_WILL_BYTES = 32 * 1024 * 1024;

const WILL_OVERHEAD = 2048;

/** A client that reads nothing while an acknowledgement waits to be sent is disconnected after this time. */
const DRAIN_MS = 5000;

/**
 * aedes acknowledges and forwards a message when `authorizePublish` calls back, so the callback waits for the commit. aedes cannot send a
 * reason to a client of MQTT 5. So `acknowledgeWith` acknowledges a refusal, and aedes handles the message as QoS 0.
 */
export function createSettling(deps: {
  handleMessage: HandleMessage;
  /** epoch ms */
  clock: () => number;
  connectionOf: (client: Client) => Connection | undefined;
  canPublish: (client: Client, topic: string, route: Topic | null) => boolean;
  canSendFor: (client: Client, device: string, topic: string) => boolean;
  deliveriesOf: (connection: Connection) => Deliveries;
  halfOpen: (client: Client) => number;
  forward: (packet: PublishPacket, client: Client) => void;
  metrics: Metrics;
}) {
  const { handleMessage, clock, connectionOf, canPublish, canSendFor, deliveriesOf } = deps;
  const { halfOpen, forward, metrics } = deps;
  const memory = new PayloadMemory();
  let willBytes = 0;

  /** `route` is null outside the contract, `client` is null for this process itself, `connection` is missing for a last will. */
  async function settle(
    packet: PublishPacket,
    route: Topic | null,
    client: Client | null,
    connection?: Connection,
    onRefused?: (refused: Refusals) => void,
  ): Promise<Outcome> {
    keepApart(packet, memory);
    const { topic, payload, properties, qos, messageId, dup } = packet;
    const message = {
      topic,
      route,
      payload,
      contentType: properties?.contentType,
      retained: false,
      receivedAt: clock(),
      dup,
      receipt:
        connection && qos > 0
          ? deliveriesOf(connection).receive({ qos, messageId, dup, topic, payload })
          : { from: null },
      signal: connection?.closed,
      permits: client ? permitsOf(client) : undefined,
      onRefused,
    };
    const outcome = await handleMessage(message);
    restrict(packet, route, outcome);
    return outcome;
  }

  /** Created once for each connection, because each message has a reference to this function. */
  function permitsOf(client: Client): Message['permits'] {
    const connection = connectionOf(client);
    if (!connection) return () => false;
    connection.permits ??= (device, topic) => canSendFor(client, device, topic);
    return connection.permits;
  }

  async function settleWill(packet: PublishPacket, route: Topic | null, client: Client | null) {
    const cost = packet.payload.length + WILL_OVERHEAD;
    if (willBytes + cost > MAX_WILL_BYTES) {
      metrics.messages.inc({ result: 'unsettled' });
      throw new MillraceError('unavailable', 'Too many last wills wait to be settled.');
    }
    willBytes += cost;
    try {
      await settle(packet, route, client);
    } finally {
      willBytes -= cost;
    }
  }

  function answer({ client, isTerse }: Connection, packet: PublishPacket, answer: Answer, done: () => void) {
    const isAccepted = answer.reasonCode < FIRST_ERROR;
    // After a PUBREC with success the exchange continues with PUBREL, so aedes must handle the message and store its id.
    if (isAccepted && packet.qos === 2) return done();
    acknowledgeWith(client, packet, answer, isTerse);
    if (!isAccepted) metrics.reasons.inc({ code: answer.reasonCode });
    if (isAccepted) forward({ ...packet }, client);
    Object.assign(packet, { topic: DROPPED, qos: 0, retain: false });
    if (!client.conn.writableNeedDrain) return done();
    const timer = setTimeout(() => client.conn.destroy(), DRAIN_MS).unref();
    client.conn.once('drain', () => {
      clearTimeout(timer);
      done();
    });
  }

  function track(connection: Connection, packet: PublishPacket, done: () => void) {
    const { client, acknowledgements } = connection;
    const { topic, qos, messageId } = packet;
    // The identifier of QoS 2 denotes the same message until its PUBREL (MQTT-4.3.3-2).
    const acknowledge = () => {
      if (qos === 1) deliveriesOf(connection).release(messageId);
      done();
    };
    if (client.version !== 5) return { settled: acknowledgements.track(acknowledge) };
    const result: { outcome: Outcome; refused: Refusals } = { outcome: 'accepted', refused: [] };
    const release = acknowledgements.track(() => {
      const { outcome, refused } = result;
      const reply = answerTo(outcome, refused, topic);
      // PUBREC with an error ends the exchange (MQTT 5, 4.3.3).
      if (reply && reply.reasonCode >= FIRST_ERROR) deliveriesOf(connection).release(messageId);
      if (reply) answer(connection, packet, reply, acknowledge);
      else acknowledge();
    });
    return {
      settled(outcome: Outcome) {
        result.outcome = outcome;
        release();
      },
      onRefused(refused: Refusals) {
        result.refused = refused;
      },
    };
  }

  /** Until its acknowledgement, aedes keeps the packet in memory, because it waits for all earlier acknowledgements. */
  function countUnacknowledged(
    { reader }: Connection,
    { payload }: PublishPacket,
    done: () => void,
  ): () => void {
    const size = payload.length;
    reader.enter(size);
    return () => {
      done();
      reader.leave(size);
    };
  }

  /**
   * MQTT 3.1.1 cannot refuse a publish (MQTT-3.3.5-2). If the broker closed the connection, the client would send the
   * message again without end, so the broker acknowledges and drops it. MQTT 5 has no answer to a publish with QoS 0, so
   * the broker closes the connection with a reason. Without a connection the message is a last will.
   */
  function forbid(
    connection: Connection | undefined,
    packet: PublishPacket,
    done: (error?: Error | null) => void,
  ) {
    if (!connection || (connection.client.version !== 5 && packet.qos === 0)) {
      done(new Error('no right to publish there'));
    } else if (connection.client.version !== 5) {
      const acknowledge = countUnacknowledged(connection, packet, done);
      connection.acknowledgements.track(() => {
        Object.assign(packet, { topic: DROPPED, retain: false });
        acknowledge();
      })();
    } else if (packet.qos === 0) {
      disconnectForbidden(connection.client);
    } else {
      const reason = 'forbidden: the account may not publish on this topic';
      const acknowledge = countUnacknowledged(connection, packet, done);
      connection.acknowledgements.track(() =>
        answer(connection, packet, { reasonCode: REASONS.notAuthorized, reason }, acknowledge),
      )();
    }
  }

  function disconnectForbidden(client: Client) {
    if (client.version === 5) metrics.reasons.inc({ code: REASONS.notAuthorized });
    disconnect(client, REASONS.notAuthorized);
  }

  /** CONNACK announces the maximum (MQTT-3.3.4-9). */
  function isOverMaximum({ client, acknowledgements }: Connection): boolean {
    return client.version === 5 && acknowledgements.pending + halfOpen(client) >= RECEIVE_MAXIMUM;
  }

  return (client: Client | null, packet: PublishPacket, done: (error?: Error | null) => void) => {
    // A message from a closed connection is its last will.
    const connection = client && !client.closed ? connectionOf(client) : undefined;
    if (connection?.client.version === 5 && isLeaving(connection.client)) return;
    if (connection && packet.qos > 0 && isOverMaximum(connection)) {
      metrics.reasons.inc({ code: REASONS.receiveMaximum });
      disconnect(connection.client, REASONS.receiveMaximum);
      return;
    }
    const route = parseTopic(packet.topic);
    if (client && !canPublish(client, packet.topic, route)) {
      forbid(connection, packet, done);
      return;
    }
    if (!connection) {
      settleWill(packet, route, client).then(() => done(), done);
      return;
    }
    const acknowledge = countUnacknowledged(connection, packet, done);
    // QoS 0 has no acknowledgement, so no order of acknowledgements must be kept. aedes may forward the message after
    // the connection has closed.
    const { settled, onRefused } =
      packet.qos === 0 ? { settled: acknowledge } : track(connection, packet, acknowledge);
    settle(packet, route, client, connection, onRefused).then(
      (outcome) => {
        // QoS 0 has no acknowledgement that could report the reason, so the broker disconnects the client.
        if (outcome === 'forbidden' && packet.qos === 0) return disconnectForbidden(connection.client);
        settled(outcome);
      },
      // The connection is closed without an acknowledgement, so that the device reconnects and sends the message again.
      () => void client?.conn.destroy(),
    );
  };
}

/** aedes keeps the packet until the message is settled, so the packet must not have a view of the chunk that the socket read. */
function keepApart(
  packet: PublishPacket,
  memory: PayloadMemory,
): asserts packet is PublishPacket & { payload: Buffer } {
  packet.payload = memory.own(packet.payload);
  const { properties } = packet;
  if (properties?.correlationData) properties.correlationData = memory.own(properties.correlationData);
}

/** Replaces topics outside the contract. The broker forwards messages on this topic to no client. */
export const DROPPED = '$SYS/dropped';

/** A normal status takes about 50 bytes. A larger one than this is not retained. */
const MAX_RETAINED_BYTES = 1024;

/** aedes closes the connection of a client that publishes on a topic with more levels. */
const MAX_LEVELS = 100;

/** A message on a mapped topic may be a command for another program, and no permission protects mapped topics. So it is not forwarded. */
function restrict(packet: PublishPacket, route: Topic | null, outcome: Outcome) {
  if (!route || outcome === 'unknown_topic') packet.topic = DROPPED;
  const retainable = route?.kind === 'status' && outcome === 'accepted';
  if (!retainable || retainedBytes(packet) > MAX_RETAINED_BYTES) packet.retain = false;
}

const retainedBytes = ({ payload, properties }: PublishPacket) =>
  payload.length + (properties ? JSON.stringify(properties).length : 0);

/**
 * Acknowledges and counts such a topic like any unknown one. If aedes closed the connection, the device would reconnect
 * and send the message again forever. aedes has no public hook here, so the private `_parser` is used.
 */
export function dropDeepTopics(client: Client) {
  const { _parser } = client as unknown as { _parser: EventEmitter };
  _parser.prependListener('packet', (packet) => {
    if (packet.cmd !== 'publish' || packet.topic.split('/', MAX_LEVELS + 1).length <= MAX_LEVELS) return;
    packet.topic = DROPPED;
  });
}

/** Includes messages of an earlier connection, which aedes does not know. The private `_parser` is used as in `dropDeepTopics`. */
export function releaseOnPubrel(client: Client, release: (messageId: number) => void) {
  const { _parser } = client as unknown as { _parser: EventEmitter };
  _parser.prependListener('packet', (packet) => {
    if (packet.cmd === 'pubrel') release(packet.messageId);
  });
}
