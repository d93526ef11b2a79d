import type { IPublishPacket, MqttClient } from 'mqtt';
import { keptBytes, PayloadMemory } from '../../ingest/admission/index.ts';
import type { Receipt } from '../../ingest/receipt-times.ts';
import { Acknowledgements, Deliveries, Pubacks } from '../acknowledgements.ts';
import { KeepAlive } from './keep-alive.ts';
import { type Publish, type Receive, readPublishes } from './publish-reader.ts';

/** MQTT.js then continues with the next packet, and sends no PUBACK. */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. By default MQTT.js sends each
 * PUBACK before it handles the next packet.
 *
 * `PublishReader` reads nearly all publishes. MQTT.js reads the others, and calls `handleMessage` for each. The error
 * in its callback makes it continue without a PUBACK. This module sends the PUBACK later, in order of arrival, directly
 * to the stream. Until the callback is called, MQTT.js reads no further, which is the backpressure.
 * `test/thorough/long/subscriber-acknowledgements.test.ts` fails when a new version of MQTT.js behaves differently.
 */
export function acknowledgeAfterCommit(
  client: MqttClient,
  {
    onPublish,
    onFailed,
    maxUnsettled,
  }: {
    /** Rejects when the message must stay unacknowledged. */
    onPublish: (message: Publish, receipt: Receipt) => unknown;
    /** The caller closes the connection. The broker then sends again this message, and all later ones, which wait for it. */
    onFailed: (error: Error) => void;
    /** The client reads no further at these limits. `bytes` includes settled messages that wait for the PUBACK of an earlier message. */
    maxUnsettled: { messages: number; bytes: number };
  },
) {
  const heartbeat = new KeepAlive(client);
  const memory = new PayloadMemory();
  const open = () => ({
    acknowledgements: new Acknowledgements(),
    pubacks: new Pubacks(client.stream),
    /** Settled messages that wait for an earlier PUBACK count, because `deliveries` keeps their payloads in memory. */
    settledBytes: 0,
  });
  let connection: ReturnType<typeof open> | null = null;
  /** The broker sends unacknowledged messages again on the next connection. */
  const deliveries = new Deliveries();
  let isAccepting = true;
  let unsettled = 0;
  let unsettledBytes = 0;
  /** Accepts the message that waits while too much is unsettled, and resumes reading. */
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

  client.on('close', () => {
    connection?.acknowledgements.drop();
    connection = null;
    waiting = null;
    heartbeat.end();
  });

  /** `settledBytes` includes `bytes` from the settling until the PUBACK. null: the message gets no PUBACK. */
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

  function leave(bytes: number) {
    unsettled--;
    unsettledBytes -= bytes;
    resume();
  }

  /** Also if `onPublish` throws at once. */
  function settle(message: Publish): Promise<unknown> {
    try {
      const receipt = message.qos > 0 ? deliveries.receive(message) : { from: null };
      return Promise.resolve(onPublish(message, receipt));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Not async, because each message would keep the state of the function in memory until its commit. */
  function accept(message: Publish) {
    // A view of the chunk that the socket read would keep up to 64 KiB alive in `deliveries`.
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
    /** The broker keeps later messages in the session. Earlier ones are still acknowledged. */
    quiesce() {
      isAccepting = false;
      // From now on no message stops reading, so no PINGREQs are needed for backpressure.
      heartbeat.end();
      resume();
    },
  };
}

const publishOf = ({ topic, payload, qos, messageId, dup, retain, properties }: IPublishPacket): Publish => ({
  topic,
  payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload),
  qos,
  messageId,
  dup,
  retain,
  contentType: properties?.contentType,
});
