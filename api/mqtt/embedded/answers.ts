import type { Client, PublishPacket } from 'aedes';
import { suggestTopic } from '../../../schema/topic-suggestion.ts';
import type { Outcome } from '../../ingest/pipeline.ts';
import type { Topics } from '../../ingest/topics.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Refusals } from '../../store/dead-letters.ts';
import type { Deliveries } from '../acknowledgements.ts';
import type { Connection } from './connections.ts';
import {
  type Answer,
  acknowledgeWith,
  answerTo,
  disconnect,
  FIRST_ERROR,
  REASONS,
  RECEIVE_MAXIMUM,
} from './mqtt5.ts';

/** Replaces topics outside the contract. The broker forwards messages on this topic to no client. */
export const DROPPED = '$SYS/dropped';

/** A client that reads nothing while an acknowledgement waits to be sent is disconnected after this time. */
const DRAIN_MS = 5000;

/** aedes cannot send a reason to a client of MQTT 5. So `acknowledgeWith` acknowledges a refusal, and aedes handles the message as QoS 0. */
export class Answers {
  #topics;
  #deliveriesOf;
  #halfOpen;
  #forward;
  #metrics;

  constructor({
    deliveriesOf,
    halfOpen,
    forward,
    metrics,
    topics,
  }: {
    deliveriesOf: (connection: Connection) => Deliveries;
    halfOpen: (client: Client) => number;
    forward: (packet: PublishPacket, client: Client) => void;
    metrics: Metrics;
    topics: Pick<Topics, 'contract' | 'hint'>;
  }) {
    this.#topics = topics;
    this.#deliveriesOf = deliveriesOf;
    this.#halfOpen = halfOpen;
    this.#forward = forward;
    this.#metrics = metrics;
  }

  track(connection: Connection, packet: PublishPacket, done: () => void) {
    const { client, acknowledgements } = connection;
    const { topic, qos, messageId } = packet;
    // The identifier of QoS 2 denotes the same message until its PUBREL (MQTT-4.3.3-2).
    const acknowledge = () => {
      if (qos === 1) this.#deliveriesOf(connection).release(messageId);
      done();
    };
    if (client.version !== 5) return { settled: acknowledgements.track(acknowledge) };
    const result: { outcome: Outcome; refused: Refusals } = { outcome: 'accepted', refused: [] };
    const release = acknowledgements.track(() => {
      const { outcome, refused } = result;
      const reply = answerTo(
        outcome,
        refused,
        () => suggestTopic(topic, this.#topics.contract),
        this.#topics.hint,
      );
      // PUBREC with an error ends the exchange (MQTT 5, 4.3.3).
      if (reply && reply.reasonCode >= FIRST_ERROR) this.#deliveriesOf(connection).release(messageId);
      if (reply) this.#answer(connection, packet, reply, acknowledge);
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
  countUnacknowledged({ reader }: Connection, { payload }: PublishPacket, done: () => void): () => void {
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
  forbid(connection: Connection | undefined, packet: PublishPacket, done: (error?: Error | null) => void) {
    if (!connection || (connection.client.version !== 5 && packet.qos === 0)) {
      done(new Error('no right to publish there'));
    } else if (connection.client.version !== 5) {
      const acknowledge = this.countUnacknowledged(connection, packet, done);
      connection.acknowledgements.track(() => {
        Object.assign(packet, { topic: DROPPED, retain: false });
        acknowledge();
      })();
    } else if (packet.qos === 0) {
      this.disconnectForbidden(connection.client);
    } else {
      const reason = 'forbidden: the account may not publish on this topic';
      const acknowledge = this.countUnacknowledged(connection, packet, done);
      connection.acknowledgements.track(() =>
        this.#answer(connection, packet, { reasonCode: REASONS.notAuthorized, reason }, acknowledge),
      )();
    }
  }

  disconnectForbidden(client: Client) {
    if (client.version === 5) this.#metrics.reasons.inc({ code: REASONS.notAuthorized });
    disconnect(client, REASONS.notAuthorized);
  }

  /** Returns whether the client sent more than CONNACK allows (MQTT-3.3.4-9). */
  disconnectOverMaximum({ client, acknowledgements }: Connection): boolean {
    if (client.version !== 5 || acknowledgements.pending + this.#halfOpen(client) < RECEIVE_MAXIMUM)
      return false;
    this.#metrics.reasons.inc({ code: REASONS.receiveMaximum });
    disconnect(client, REASONS.receiveMaximum);
    return true;
  }

  #answer({ client, isTerse }: Connection, packet: PublishPacket, answer: Answer, done: () => void) {
    const isAccepted = answer.reasonCode < FIRST_ERROR;
    // After a PUBREC with success the exchange continues with PUBREL, so aedes must handle the message and store its id.
    if (isAccepted && packet.qos === 2) return done();
    acknowledgeWith(client, packet, answer, isTerse);
    if (!isAccepted) this.#metrics.reasons.inc({ code: answer.reasonCode });
    if (isAccepted) this.#forward({ ...packet }, client);
    Object.assign(packet, { topic: DROPPED, qos: 0, retain: false });
    if (!client.conn.writableNeedDrain) return done();
    const timer = setTimeout(() => client.conn.destroy(), DRAIN_MS).unref();
    client.conn.once('drain', () => {
      clearTimeout(timer);
      done();
    });
  }
}
