import { MillraceError } from '../../../common/errors.js';
import { parseTopic } from '../../../schema/topics.js';

/** @import { EventEmitter } from 'node:events' */
/** @import { Client, PublishPacket } from 'aedes' */
/** @import { HandleMessage, Outcome } from '../../ingest/pipeline.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Connection } from './connections.js' */

/**
 * Bytes of last wills that may wait to be settled. The connection of a will is closed, so there is no backpressure. The limit is
 * enough for 16,000 devices that disconnect while the database is unavailable. Further wills count as unsettled and are lost.
 */
const MAX_WILL_BYTES = 32 * 1024 * 1024;

/** Memory of a will in addition to its payload, in bytes. */
const WILL_OVERHEAD = 2048;

/**
 * Settles published messages. aedes acknowledges and forwards a message when `authorizePublish` calls back. So the callback waits
 * for the commit.
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
    if (willBytes + cost > MAX_WILL_BYTES) {
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
      // MQTT 3.1.1 has no other answer: aedes closes the connection.
      done(new Error('no right to publish there'));
      return;
    }
    // A closed connection can only send its will.
    const connection = client && !client.closed ? connectionOf(client) : undefined;
    if (!connection) {
      settleWill(packet).then(() => done(), done);
      return;
    }
    const { reader, acknowledgements, closed } = connection;
    const size = packet.payload.length;
    reader.enter(size);
    // QoS 0 has no acknowledgement, so it keeps no order, and aedes may forward it after the connection has closed.
    const settled = packet.qos === 0 ? () => done() : acknowledgements.track(done);
    settle(packet, closed).then(
      () => {
        settled();
        reader.leave(size);
      },
      // The message stays unacknowledged: the device reconnects and sends it again.
      () => client?.conn.destroy(),
    );
  };
}

/** A payload that is smaller than this share of the memory behind it is copied. */
const MIN_SHARE = 1 / 2;

/** A payload may always keep this much memory alive: the byte budget counts it as overhead of each message. */
const FREE_BYTES = 2048;

/**
 * The payload is a view of the chunk that the socket read, up to 64 KiB, and keeps the whole chunk alive until it is settled. A small
 * message behind a large one took 31 times the memory that the byte budget counts for it.
 *
 * @param {Buffer | string} payload
 * @returns {Buffer} a view of little more memory than it needs
 */
export function ownBytes(payload) {
  if (!Buffer.isBuffer(payload)) return Buffer.from(payload);
  const isLean = payload.length >= MIN_SHARE * (payload.buffer.byteLength - FREE_BYTES);
  return isLean ? payload : Buffer.from(payload);
}

/** Messages with an unknown topic go to this topic instead of their own. The broker forwards it to no client. */
export const DROPPED = '$SYS/dropped';

/** A larger status is not retained, in bytes. A normal status takes about 50. */
const MAX_RETAINED_BYTES = 1024;

/** A fixed limit of aedes: it closes the connection for a topic with more levels. */
const MAX_LEVELS = 100;

/**
 * Restricts the messages that other clients receive. Only known topics are forwarded, and only an accepted status is retained.
 *
 * @param {PublishPacket} packet is changed
 * @param {Outcome} outcome
 */
export function restrict(packet, outcome) {
  const topic = parseTopic(packet.topic);
  if (outcome === 'unknown_topic') packet.topic = DROPPED;
  const retainable = topic?.kind === 'status' && outcome === 'accepted';
  if (!retainable || packet.payload.length > MAX_RETAINED_BYTES) packet.retain = false;
}

/**
 * Moves a publish with too many levels to the dropped topic before aedes checks it. So it is acknowledged and counted like any other
 * unknown topic. If aedes closed the connection, the device would reconnect and send it again forever. aedes has no public hook at
 * this point: `_parser` is private.
 *
 * @param {Client} client
 */
export function dropDeepTopics(client) {
  const { _parser } = /** @type {{ _parser: EventEmitter }} */ (/** @type {unknown} */ (client));
  _parser.prependListener('packet', (packet) => {
    if (packet.cmd !== 'publish' || packet.topic.split('/', MAX_LEVELS + 1).length <= MAX_LEVELS) return;
    packet.topic = DROPPED;
  });
}
