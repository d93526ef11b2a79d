import { keptBytes, PayloadMemory } from '../../ingest/admission/index.js';
import { Acknowledgements, Deliveries, Pubacks } from '../acknowledgements.js';
import { KeepAlive } from './keep-alive.js';
import { readPublishes } from './publish-reader.js';

/** @import { IPublishPacket, MqttClient } from 'mqtt' */
/** @import { Receipt } from '../../ingest/receipt-times.js' */
/** @import { Publish, Receive } from './publish-reader.js' */

/** The answer to MQTT.js that means "continue with the next packet, but send no PUBACK". */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. By default MQTT.js handles one packet after the
 * other, and sends each PUBACK before the next packet.
 *
 * `PublishReader` reads nearly all publishes. MQTT.js reads the others, and calls `handleMessage` for each.
 * If the answer is an error, MQTT.js continues with the next packet and sends no PUBACK. So this module sends
 * the PUBACK later, in order of arrival. Without an answer MQTT.js reads no further, which is the
 * backpressure. The PUBACKs go directly to the stream of the connection.
 * `test/thorough/long/subscriber-acknowledgements.test.js` fails when a new version of MQTT.js behaves
 * differently.
 *
 * @param {MqttClient} client
 * @param {object} options
 * @param {(message: Publish, receipt: Receipt) => unknown} options.onPublish resolves when the message is settled;
 *   rejects when it must stay unacknowledged
 * @param {(error: Error) => void} options.onFailed called with the error of a message that failed. All later messages wait for
 *   its acknowledgement, so the caller closes the connection, and the broker sends them all again
 * @param {{ messages: number, bytes: number }} options.maxUnsettled limits from which the client reads no
 *   further. `bytes` includes settled messages that wait for the PUBACK of an earlier message. The receive
 *   maximum limits their number
 */
export function acknowledgeAfterCommit(client, { onPublish, onFailed, maxUnsettled }) {
  const heartbeat = new KeepAlive(client);
  const memory = new PayloadMemory();
  const open = () => ({
    acknowledgements: new Acknowledgements(),
    pubacks: new Pubacks(client.stream),
    /**
     * Bytes of settled messages that wait for the PUBACK of an earlier one. `deliveries` keeps their
     * payloads.
     */
    settledBytes: 0,
  });
  /** @type {ReturnType<typeof open> | null} null: the connection has received no message */
  let connection = null;
  /** Unacknowledged messages, which the broker sends again on its next connection. */
  const deliveries = new Deliveries();
  let isAccepting = true;
  let unsettled = 0;
  let unsettledBytes = 0;
  /** Accepts the message that waits for room, and resumes reading. @type {(() => void) | null} */
  let waiting = null;

  const isFull = () =>
    unsettled >= maxUnsettled.messages ||
    unsettledBytes + (connection?.settledBytes ?? 0) >= maxUnsettled.bytes;

  function resume() {
    if (!waiting || (isAccepting && isFull())) return;
    const proceed = waiting;
    waiting = null;
    heartbeat.resumeReading();
    proceed();
  }

  // The broker sends unacknowledged messages again on the new connection.
  client.on('close', () => {
    connection?.acknowledgements.drop();
    connection = null;
    waiting = null;
    heartbeat.end();
  });

  /**
   * @param {Publish} message
   * @param {number} bytes that count toward `settledBytes` until the PUBACK
   * @returns {(() => void) | null} the caller calls it when the message is settled; null: the message has no
   *   PUBACK
   */
  function track({ qos, messageId }, bytes) {
    if (qos === 0 || messageId === undefined) return null;
    connection ??= open();
    const receivedOn = connection;
    return receivedOn.acknowledgements.track(() => {
      receivedOn.settledBytes -= bytes;
      if (receivedOn !== connection || !client.connected) return;
      deliveries.release(messageId);
      receivedOn.pubacks.send(messageId);
    });
  }

  /** @param {number} bytes of a message that is settled, or that failed */
  function leave(bytes) {
    unsettled--;
    unsettledBytes -= bytes;
    resume();
  }

  /**
   * @param {Publish} message
   * @returns {Promise<unknown>} settles with the message, even if `onPublish` throws at once
   */
  function settle(message) {
    try {
      const receipt = message.qos > 0 ? deliveries.receive(message) : { from: null };
      return Promise.resolve(onPublish(message, receipt));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Not async, because each message would keep the state of the function until its commit. @param {Publish} message */
  function accept(message) {
    // The copy precedes `deliveries`, because a view of the chunk that the socket read would keep up to 64
    // KiB alive.
    message.payload = memory.own(message.payload);
    const bytes = keptBytes(message.payload);
    const settled = track(message, bytes);
    const receivedOn = connection;
    unsettled++;
    unsettledBytes += bytes;
    settle(message).then(
      () => {
        if (settled && receivedOn) {
          receivedOn.settledBytes += bytes;
          settled();
        }
        leave(bytes);
      },
      (error) => {
        try {
          if (isAccepting && receivedOn === connection) onFailed(error);
        } finally {
          leave(bytes);
        }
      },
    );
  }

  /** @type {Receive} */
  function receive(message, next) {
    const isWaiting = isAccepting && isFull();
    if (isWaiting) {
      waiting = () => {
        if (isAccepting) accept(message);
        next();
      };
      heartbeat.stopReading();
    } else if (isAccepting) accept(message);
    return !isWaiting;
  }

  client.handleMessage = (packet, callback) => {
    const next = () => callback(packet.qos > 0 ? NO_PUBACK_YET : undefined);
    if (receive(publishOf(packet), next)) next();
  };
  readPublishes(client, receive);

  return {
    /**
     * Ignores all further messages: they are neither settled nor acknowledged, and the broker keeps them in the session. Earlier
     * messages are still acknowledged.
     */
    quiesce() {
      isAccepting = false;
      // No message stops reading any more.
      heartbeat.end();
      resume();
    },
  };
}

/** @param {IPublishPacket} packet that MQTT.js has read @returns {Publish} */
const publishOf = ({ topic, payload, qos, messageId, dup, retain, properties }) => ({
  topic,
  payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload),
  qos,
  messageId,
  dup,
  retain,
  contentType: properties?.contentType,
});
