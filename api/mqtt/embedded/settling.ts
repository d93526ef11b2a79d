import type { EventEmitter } from 'node:events';
import type { Client, PublishPacket } from 'aedes';
import { MillraceError } from '../../../common/errors.ts';
import type { Topic } from '../../../schema/topics.ts';
import { PayloadMemory } from '../../ingest/admission/index.ts';
import type { HandleMessage, Message, Outcome } from '../../ingest/pipeline.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Refusals } from '../../store/dead-letters.ts';
import { type Deliveries, replacementOf } from '../acknowledgements.ts';
import { type Answers, DROPPED } from './answers.ts';
import type { Connection } from './connections.ts';
import { isLeaving } from './mqtt5.ts';

/** Backpressure cannot limit wills, because their connection is closed. Enough for 16,000 devices; above it a will is lost. */
const MAX_WILL_BYTES = 32 * 1024 * 1024;

const WILL_OVERHEAD = 2048;

/** aedes acknowledges and forwards a message when `authorizePublish` calls back, so the callback waits for the commit. */
export class Settling {
  #parseTopic;
  #handleMessage;
  #clock;
  #connectionOf;
  #canPublish;
  #canSendFor;
  #deliveriesOf;
  #answers;
  #metrics;
  #memory = new PayloadMemory();
  #willBytes = 0;

  constructor(deps: {
    parseTopic: (topic: string) => Topic | null;
    handleMessage: HandleMessage;
    /** epoch ms */
    clock: () => number;
    connectionOf: (client: Client) => Connection | undefined;
    canPublish: (client: Client, topic: string, route: Topic | null) => boolean;
    canSendFor: (client: Client, device: string, topic: string) => boolean;
    deliveriesOf: (connection: Connection) => Deliveries;
    answers: Answers;
    metrics: Metrics;
  }) {
    this.#parseTopic = deps.parseTopic;
    this.#handleMessage = deps.handleMessage;
    this.#clock = deps.clock;
    this.#connectionOf = deps.connectionOf;
    this.#canPublish = deps.canPublish;
    this.#canSendFor = deps.canSendFor;
    this.#deliveriesOf = deps.deliveriesOf;
    this.#answers = deps.answers;
    this.#metrics = deps.metrics;
  }

  authorizePublish = (client: Client | null, packet: PublishPacket, done: (error?: Error | null) => void) => {
    // A message from a closed connection is its last will.
    const connection = client && !client.closed ? this.#connectionOf(client) : undefined;
    if (connection?.client.version === 5 && isLeaving(connection.client)) return;
    if (connection && packet.qos > 0 && this.#answers.disconnectOverMaximum(connection)) return;
    const route = this.#parseTopic(packet.topic);
    if (client && !this.#canPublish(client, packet.topic, route)) {
      this.#answers.forbid(connection, packet, done);
      return;
    }
    if (!connection) {
      this.#settleWill(packet, route, client).then(() => done(), done);
      return;
    }
    const acknowledge = this.#answers.countUnacknowledged(connection, packet, done);
    // QoS 0 has no acknowledgement, so no order of acknowledgements must be kept. aedes may forward the message after
    // the connection has closed.
    const { settled, onRefused } =
      packet.qos === 0 ? { settled: acknowledge } : this.#answers.track(connection, packet, acknowledge);
    this.#settle(packet, route, client, connection, onRefused).then(
      (outcome) => {
        // QoS 0 has no acknowledgement that could report the reason, so the broker disconnects the client.
        if (outcome === 'forbidden' && packet.qos === 0)
          return this.#answers.disconnectForbidden(connection.client);
        settled(outcome);
      },
      // The connection is closed without an acknowledgement, so that the device reconnects and sends the message again.
      () => void client?.conn.destroy(),
    );
  };

  /** `route` is null outside the contract, `client` is null for this process itself, `connection` is missing for a last will. */
  async #settle(
    packet: PublishPacket,
    route: Topic | null,
    client: Client | null,
    connection?: Connection,
    onRefused?: (refused: Refusals) => void,
  ): Promise<Outcome> {
    keepApart(packet, this.#memory);
    const { topic, payload, properties, qos, messageId, dup } = packet;
    const message = {
      topic,
      route,
      payload,
      contentType: properties?.contentType,
      // The broker sends a last will later, when its sender cannot know any more whether it is right.
      replaces: connection !== undefined && replacementOf(properties),
      retained: false,
      receivedAt: this.#clock(),
      dup,
      receipt:
        connection && qos > 0
          ? this.#deliveriesOf(connection).receive({ qos, messageId, dup, topic, payload })
          : { from: null },
      signal: connection?.closed,
      permits: client ? this.#permitsOf(client) : undefined,
      onRefused,
    };
    const outcome = await this.#handleMessage(message);
    restrict(packet, route, outcome);
    return outcome;
  }

  /** Created once for each connection, because each message has a reference to this function. */
  #permitsOf(client: Client): Message['permits'] {
    const connection = this.#connectionOf(client);
    if (!connection) return () => false;
    connection.permits ??= (device, topic) => this.#canSendFor(client, device, topic);
    return connection.permits;
  }

  async #settleWill(packet: PublishPacket, route: Topic | null, client: Client | null) {
    const cost = packet.payload.length + WILL_OVERHEAD;
    if (this.#willBytes + cost > MAX_WILL_BYTES) {
      this.#metrics.messages.inc({ result: 'unsettled' });
      throw new MillraceError('unavailable', 'Too many last wills wait to be settled.');
    }
    this.#willBytes += cost;
    try {
      await this.#settle(packet, route, client);
    } finally {
      this.#willBytes -= cost;
    }
  }
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

/** A normal status takes about 50 bytes. A larger one than this is not retained. */
const MAX_RETAINED_BYTES = 1024;

/** aedes closes the connection of a client that publishes on a topic with more levels. */
const MAX_LEVELS = 100;

/** A message outside the contract may be a command for another program, and no permission protects its topic. So it is not forwarded. */
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
