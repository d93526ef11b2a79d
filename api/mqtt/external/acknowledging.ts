import type { IPublishPacket, MqttClient } from 'mqtt';
import { keptBytes, PayloadMemory } from '../../ingest/admission/index.ts';
import type { Receipt } from '../../ingest/receipt-times.ts';
import { Acknowledgements, Deliveries, Pubacks } from '../acknowledgements.ts';
import { KeepAlive } from './keep-alive.ts';
import { type Publish, type Receive, readPublishes } from './publish-reader.ts';

/** Error that is passed to the callback of MQTT.js. Then MQTT.js continues with the next packet, and sends no PUBACK. */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. By default MQTT.js handles one packet after the
 * other, and sends each PUBACK before it handles the next packet.
 *
 * `PublishReader` reads nearly all publishes. MQTT.js reads the other publishes, and calls `handleMessage` for each of them. If the
 * callback gets an error, MQTT.js continues with the next packet and sends no PUBACK. So this module sends the PUBACK later, in order
 * of arrival, directly to the stream of the connection. Until the callback is called, MQTT.js reads no further, which is the
 * backpressure. `test/thorough/long/subscriber-acknowledgements.test.ts` fails when a new version of MQTT.js behaves differently.
 */
export function acknowledgeAfterCommit(
  client: MqttClient,
  {
    onPublish,
    onFailed,
    maxUnsettled,
  }: {
    /** resolves when the message is settled; rejects when it must stay unacknowledged */
    onPublish: (message: Publish, receipt: Receipt) => unknown;
    /**
     * called with the error of a message that failed. All later messages wait for its acknowledgement. So the
     * caller closes the connection, and the broker sends all unacknowledged messages again
     */
    onFailed: (error: Error) => void;
    /**
     * limits at which the client reads no further. `bytes` includes settled messages that wait for the PUBACK
     * of an earlier message. The receive maximum limits the number of such messages
     */
    maxUnsettled: { messages: number; bytes: number };
  },
) {
  const heartbeat = new KeepAlive(client);
  const memory = new PayloadMemory();
  const open = () => ({
    acknowledgements: new Acknowledgements(),
    pubacks: new Pubacks(client.stream),
    /**
     * Bytes of settled messages that wait for the PUBACK of an earlier message. They count, because `deliveries` keeps
     * the payloads of these messages in memory.
     */
    settledBytes: 0,
  });
  /** null: the connection has received no message */
  let connection: ReturnType<typeof open> | null = null;
  /** Unacknowledged messages, which the broker sends again on the next connection. */
  const deliveries = new Deliveries();
  let isAccepting = true;
  let unsettled = 0;
  let unsettledBytes = 0;
  /** Accepts the message that waits while too much is unsettled, and resumes reading; null: none waits. */
  let waiting: (() => void) | null = null;

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
   * @param bytes bytes of the message, which `settledBytes` includes from its settling until its PUBACK
   * @returns function that the caller calls when the message is settled; null: the message gets no PUBACK
   */
  function track({ qos, messageId }: Publish, bytes: number): (() => void) | null {
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

  /** Stops counting a message that is settled, or that failed. */
  function leave(bytes: number) {
    unsettled--;
    unsettledBytes -= bytes;
    resume();
  }

  /** @returns settles with the message, even if `onPublish` throws at once */
  function settle(message: Publish): Promise<unknown> {
    try {
      const receipt = message.qos > 0 ? deliveries.receive(message) : { from: null };
      return Promise.resolve(onPublish(message, receipt));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Settles a message, and then acknowledges it. The function is not async, because each message would keep the state of the function in
   * memory until its commit.
   */
  function accept(message: Publish) {
    // The payload is copied before `deliveries` stores it, because a view of the chunk that the socket read would keep up
    // to 64 KiB alive.
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

  const receive: Receive = (message, next) => {
    const isWaiting = isAccepting && isFull();
    if (isWaiting) {
      waiting = () => {
        if (isAccepting) accept(message);
        next();
      };
      heartbeat.stopReading();
    } else if (isAccepting) accept(message);
    return !isWaiting;
  };

  client.handleMessage = (packet, callback) => {
    const next = () => callback(packet.qos > 0 ? NO_PUBACK_YET : undefined);
    if (receive(publishOf(packet), next)) next();
  };
  readPublishes(client, receive);

  return {
    /**
     * Ignores all later messages. They are neither settled nor acknowledged, so the broker keeps them in the session. Earlier
     * messages are still acknowledged.
     */
    quiesce() {
      isAccepting = false;
      // From now on no message stops reading, so no PINGREQs are needed for backpressure.
      heartbeat.end();
      resume();
    },
  };
}

/** @param packet a packet that MQTT.js has read */
const publishOf = ({ topic, payload, qos, messageId, dup, retain, properties }: IPublishPacket): Publish => ({
  topic,
  payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload),
  qos,
  messageId,
  dup,
  retain,
  contentType: properties?.contentType,
});
