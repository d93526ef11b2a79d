import { MillraceError } from '../../../common/errors.js';
import { parseTopic } from '../../../schema/topics.js';

/** @import { EventEmitter } from 'node:events' */
/** @import { Client, PublishPacket } from 'aedes' */
/** @import { HandleMessage, Outcome } from '../../ingest/pipeline.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Connection } from './connections.js' */

/**
 * Wills that may wait to be settled: their connection is gone, and nobody is held back by them. A fleet of 16,000
 * devices can go while the database is away; what is beyond is counted as unsettled, and nobody sends it again.
 */
const MOST_WILLS_BYTES = 32 * 1024 * 1024;

/** What one costs beside its payload, in bytes. */
const WILL_OVERHEAD = 2048;

/**
 * Settles what is published. aedes acknowledges a message, and hands it on to others, once `authorizePublish` calls
 * back: so that is where it waits for the commit.
 *
 * @param {object} deps
 * @param {HandleMessage} deps.handleMessage
 * @param {() => number} deps.clock epoch ms
 * @param {(client: Client) => Connection | undefined} deps.connectionOf
 * @param {(client: Client, topic: string) => boolean} deps.canPublish
 * @param {Metrics} deps.metrics
 */
export function createSettling({ handleMessage, clock, connectionOf, canPublish, metrics }) {
  let willBytes = 0;

  /**
   * @param {PublishPacket} packet
   * @param {AbortSignal} [signal]
   */
  async function settle(packet, signal) {
    const { topic, payload } = packet;
    const bytes = ownBytes(payload);
    const message = {
      topic,
      payload: bytes,
      retained: false,
      receivedAt: clock(),
      again: packet.dup,
      signal,
    };
    restrict(packet, await handleMessage(message));
  }

  /** @param {PublishPacket} packet @throws {MillraceError} `unavailable` */
  async function settleWill(packet) {
    const cost = packet.payload.length + WILL_OVERHEAD;
    if (willBytes + cost > MOST_WILLS_BYTES) {
      metrics.messages.inc({ result: 'unsettled' });
      throw new MillraceError('unavailable', 'Too many last wills wait to be settled.');
    }
    willBytes += cost;
    try {
      await settle(packet);
    } finally {
      willBytes -= cost;
    }
  }

  /**
   * @param {Client | null} client
   * @param {PublishPacket} packet is changed
   * @param {(error?: Error | null) => void} done sends the PUBACK
   */
  return (client, packet, done) => {
    if (client && !canPublish(client, packet.topic)) {
      // MQTT 3.1.1 has no other answer: aedes closes the connection for it.
      done(new Error('no right to publish there'));
      return;
    }
    // Of a connection that is closed comes its will alone.
    const connection = client && !client.closed ? connectionOf(client) : undefined;
    if (!connection) {
      settleWill(packet).then(() => done(), done);
      return;
    }
    const { reader, owed, closed } = connection;
    const size = packet.payload.length;
    reader.enter(size);
    // Nothing is owed for QoS 0, also not that the connection is still there when it is handed on to others.
    const settled = packet.qos === 0 ? () => done() : owed.owe(done);
    settle(packet, closed).then(
      () => {
        settled();
        reader.leave(size);
      },
      // Never acknowledged: the device comes back and sends it again.
      () => client?.conn.destroy(),
    );
  };
}

/** A payload that is smaller than this share of the memory behind it is copied. */
const MIN_SHARE = 1 / 2;

/** Memory that a payload may keep alive in any case: what the byte budget counts for a message beside its payload. */
const FREE_BYTES = 2048;

/**
 * The payload is a view of what the socket read, up to 64 KiB, and keeps all of it alive until it is settled: a small message behind a
 * large one took 31 times the memory that the byte budget counts for it.
 *
 * @param {Buffer | string} payload
 * @returns {Buffer} a view of little more memory than it needs
 */
export function ownBytes(payload) {
  if (!Buffer.isBuffer(payload)) return Buffer.from(payload);
  const isLean = payload.length >= MIN_SHARE * (payload.buffer.byteLength - FREE_BYTES);
  return isLean ? payload : Buffer.from(payload);
}

/** Where messages outside the contract go instead of their own topic: nobody is served from it. */
export const DROPPED = '$SYS/dropped';

/** The largest status that is retained, in bytes; that of the contract takes about 50. */
const MOST_RETAINED_BYTES = 1024;

/** aedes' own limit, which it cannot raise: it closes the connection for a topic that has more levels. */
const MOST_LEVELS = 100;

/**
 * What other clients get to see of a message: the contract's topics; retained is a status that was accepted, and
 * nothing else.
 *
 * @param {PublishPacket} packet is changed
 * @param {Outcome} outcome
 */
export function restrict(packet, outcome) {
  const topic = parseTopic(packet.topic);
  if (outcome === 'unknown_topic') packet.topic = DROPPED;
  const retainable = topic?.kind === 'status' && outcome === 'accepted';
  if (!retainable || packet.payload.length > MOST_RETAINED_BYTES) packet.retain = false;
}

/**
 * A publish with more levels than aedes takes goes to the dropped topic before aedes sees it, so that it is
 * acknowledged and counted as others outside the contract are: a device that is thrown out comes back with it for ever.
 * aedes has no hook that early: `_parser` is its own.
 *
 * @param {Client} client
 */
export function dropDeepTopics(client) {
  const { _parser } = /** @type {{ _parser: EventEmitter }} */ (/** @type {unknown} */ (client));
  _parser.prependListener('packet', (packet) => {
    if (packet.cmd !== 'publish' || packet.topic.split('/', MOST_LEVELS + 1).length <= MOST_LEVELS) return;
    packet.topic = DROPPED;
  });
}
