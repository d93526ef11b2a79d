import type { IPublishPacket, MqttClient } from 'mqtt';
import { keptBytes, PayloadMemory } from '../../../ingest/admission/index.ts';
import type { Receipt } from '../../../ingest/receipt-times.ts';
import { Acknowledgements, Deliveries, Pubacks, replacementOf } from '../../../mqtt/index.ts';
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
 * `test/thorough/long/features/external-broker-acknowledgements.test.ts` fails when a new version of MQTT.js behaves differently.
 */
export function acknowledgeAfterCommit(client: MqttClient, options: Options): { quiesce: () => void } {
  const acknowledging = new DeferredAcknowledgements(client, options);
  client.on('close', () => acknowledging.close());
  client.handleMessage = (packet, callback) => {
    const next = () => callback(packet.qos > 0 ? NO_PUBACK_YET : undefined);
    if (acknowledging.receive(publishOf(packet), next)) next();
  };
  readPublishes(client, acknowledging.receive);
  return acknowledging;
}

/** Rejects when the message must stay unacknowledged. */
export type OnPublish = (message: Publish, receipt: Receipt) => unknown;

type Options = {
  onPublish: OnPublish;
  /** The caller closes the connection. The broker then sends again this message, and all later ones, which wait for it. */
  onFailed: (error: Error) => void;
  /** The client reads no further at these limits. `bytes` includes settled messages that wait for the PUBACK of an earlier message. */
  maxUnsettled: { messages: number; bytes: number };
};

class DeferredAcknowledgements {
  #client;
  #onPublish;
  #onFailed;
  #maxUnsettled;
  #heartbeat;
  #memory = new PayloadMemory();
  #connection: ReturnType<typeof openConnection> | null = null;
  /** The broker sends unacknowledged messages again on the next connection. */
  #deliveries = new Deliveries();
  #isAccepting = true;
  #unsettled = 0;
  #unsettledBytes = 0;
  /** Accepts the message that waits while too much is unsettled, and resumes reading. */
  #waiting: (() => void) | null = null;

  constructor(client: MqttClient, { onPublish, onFailed, maxUnsettled }: Options) {
    this.#client = client;
    this.#onPublish = onPublish;
    this.#onFailed = onFailed;
    this.#maxUnsettled = maxUnsettled;
    this.#heartbeat = new KeepAlive(client);
  }

  /** The broker keeps later messages in the session. Earlier ones are still acknowledged. */
  quiesce() {
    this.#isAccepting = false;
    // From now on no message stops reading, so no PINGREQs are needed for backpressure.
    this.#heartbeat.end();
    this.#resume();
  }

  close() {
    this.#connection?.acknowledgements.drop();
    this.#connection = null;
    this.#waiting = null;
    this.#heartbeat.end();
  }

  receive: Receive = (message, next) => {
    const isWaiting = this.#isAccepting && this.#isFull();
    if (isWaiting) {
      this.#waiting = () => {
        if (this.#isAccepting) this.#accept(message);
        next();
      };
      this.#heartbeat.stopReading();
    } else if (this.#isAccepting) this.#accept(message);
    return !isWaiting;
  };

  #isFull() {
    const { messages, bytes } = this.#maxUnsettled;
    return (
      this.#unsettled >= messages || this.#unsettledBytes + (this.#connection?.settledBytes ?? 0) >= bytes
    );
  }

  /** Not async, because each message would keep the state of the function in memory until its commit. */
  #accept(message: Publish) {
    // A view of the chunk that the socket read would keep up to 64 KiB alive in `#deliveries`.
    message.payload = this.#memory.own(message.payload);
    const bytes = keptBytes(message.payload);
    const settled = this.#track(message, bytes);
    const receivedOn = this.#connection;
    this.#unsettled++;
    this.#unsettledBytes += bytes;
    this.#settle(message).then(
      () => {
        if (settled && receivedOn) {
          receivedOn.settledBytes += bytes;
          settled();
        }
        this.#leave(bytes);
      },
      (error) => {
        try {
          if (this.#isAccepting && receivedOn === this.#connection) this.#onFailed(error);
        } finally {
          this.#leave(bytes);
        }
      },
    );
  }

  /** `settledBytes` includes `bytes` from the settling until the PUBACK. null: the message gets no PUBACK. */
  #track({ qos, messageId }: Publish, bytes: number): (() => void) | null {
    if (qos === 0 || messageId === undefined) return null;
    this.#connection ??= openConnection(this.#client);
    const receivedOn = this.#connection;
    return receivedOn.acknowledgements.track(() => {
      receivedOn.settledBytes -= bytes;
      if (receivedOn !== this.#connection || !this.#client.connected) return;
      this.#deliveries.release(messageId);
      receivedOn.pubacks.send(messageId);
    });
  }

  /** Also if `onPublish` throws at once. */
  #settle(message: Publish): Promise<unknown> {
    try {
      const receipt = message.qos > 0 ? this.#deliveries.receive(message) : { from: null };
      return Promise.resolve(this.#onPublish(message, receipt));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #leave(bytes: number) {
    this.#unsettled--;
    this.#unsettledBytes -= bytes;
    this.#resume();
  }

  #resume() {
    if (!this.#waiting || (this.#isAccepting && this.#isFull())) return;
    const proceed = this.#waiting;
    this.#waiting = null;
    this.#heartbeat.resumeReading();
    proceed();
  }
}

const openConnection = (client: MqttClient) => ({
  acknowledgements: new Acknowledgements(),
  pubacks: new Pubacks(client.stream),
  /** Settled messages that wait for an earlier PUBACK count, because `Deliveries` keeps their payloads in memory. */
  settledBytes: 0,
});

function publishOf(packet: IPublishPacket): Publish {
  const { topic, payload, qos, messageId, dup, retain, properties } = packet;
  const replaces = !retain && replacementOf(properties);
  return {
    topic,
    payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload),
    qos,
    messageId,
    dup,
    retain,
    contentType: properties?.contentType,
    ...(replaces && { replaces }),
  };
}
