import { PayloadMemory } from '../../ingest/admission/index.js';
import { Acknowledgements, Deliveries } from '../acknowledgements.js';

/** @import { Writable } from 'node:stream' */
/** @import { IPublishPacket, MqttClient } from 'mqtt' */
/** @import { Receipt } from '../../ingest/receipt-times.js' */

/** MQTT.js reads this answer as "continue with the next packet, but send no PUBACK". */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. By default MQTT.js handles one packet after the
 * other, and sends each PUBACK before the next packet.
 *
 * MQTT.js calls `handleMessage` for every publish. An error as the answer means: next packet, no PUBACK. So this module sends the
 * PUBACK later, in order of arrival. No answer means: read no further. That is the backpressure. The PUBACKs go directly to the
 * stream of the connection. `test/thorough/long/subscriber-acknowledgements.test.js` fails when a new version of MQTT.js behaves
 * differently.
 *
 * @param {MqttClient} client
 * @param {object} options
 * @param {(packet: IPublishPacket & { payload: Buffer }, receipt: Receipt) => unknown} options.onPublish resolves when the message is
 *   settled; rejects when it must stay unacknowledged. The payload is out of `PayloadMemory`
 * @param {(error: Error) => void} options.onFailed called with the error of a message that failed. All later messages wait for
 *   its acknowledgement, so the caller closes the connection, and the broker sends them all again
 * @param {{ messages: number, bytes: number }} options.maxUnsettled from here on the client reads no further
 */
export function acknowledgeAfterCommit(client, { onPublish, onFailed, maxUnsettled }) {
  const heartbeat = new KeepAlive(client);
  const open = () => ({ acknowledgements: new Acknowledgements(), pubacks: new Pubacks(client.stream) });
  /** @type {ReturnType<typeof open> | null} null until its first message */
  let connection = null;
  /** The broker sends these messages again on its next connection. */
  const deliveries = new Deliveries();
  const memory = new PayloadMemory();
  let isAccepting = true;
  let unsettled = 0;
  let unsettledBytes = 0;
  /** Accepts the message that waits for room, and resumes reading. @type {(() => void) | null} */
  let waiting = null;

  const isFull = () => unsettled >= maxUnsettled.messages || unsettledBytes >= maxUnsettled.bytes;

  function resume() {
    if (!waiting || (isAccepting && isFull())) return;
    const proceed = waiting;
    waiting = null;
    heartbeat.stop();
    proceed();
  }

  // The broker sends unacknowledged messages again on the new connection.
  client.on('close', () => {
    connection?.acknowledgements.drop();
    connection = null;
    waiting = null;
    heartbeat.stop();
  });

  /** @param {IPublishPacket} packet @returns {() => void} the caller calls it when the message is settled */
  function track({ qos, messageId }) {
    if (qos === 0 || messageId === undefined) return () => {};
    connection ??= open();
    const receivedOn = connection;
    return receivedOn.acknowledgements.track(() => {
      if (receivedOn !== connection || !client.connected) return;
      deliveries.release(messageId);
      receivedOn.pubacks.send(messageId);
    });
  }

  /** @param {IPublishPacket} packet */
  async function accept(packet) {
    const settled = track(packet);
    const receivedOn = connection;
    // MQTT.js keeps the packet, and `deliveries` its payload, until the message is settled.
    const received = Object.assign(packet, { payload: memory.own(packet.payload) });
    const bytes = received.payload.length;
    unsettled++;
    unsettledBytes += bytes;
    try {
      await onPublish(received, received.qos > 0 ? deliveries.receive(received) : { from: null });
      settled();
    } catch (error) {
      if (isAccepting && receivedOn === connection) onFailed(/** @type {Error} */ (error));
    } finally {
      unsettled--;
      unsettledBytes -= bytes;
      resume();
    }
  }

  client.handleMessage = (packet, callback) => {
    const proceed = () => {
      if (isAccepting) void accept(packet);
      callback(packet.qos > 0 ? NO_PUBACK_YET : undefined);
    };
    if (!isAccepting || !isFull()) return proceed();
    waiting = proceed;
    heartbeat.start();
  };

  return {
    /**
     * Ignores all further messages: they are neither settled nor acknowledged, and the broker keeps them in the session. Earlier
     * messages are still acknowledged.
     */
    quiesce() {
      isAccepting = false;
      resume();
    },
  };
}

/** PUBACK and the remaining length: the message id only. A reason code of 0 may be left out (MQTT 5, 3.4.2.1). */
const HEADER = [0x40, 2];
const BYTES = 4;

/**
 * Sends all PUBACKs of one turn of the event loop in one write, because one read of database answers settles tens of messages.
 * Through MQTT.js each PUBACK costs 5 µs. In one write it costs a tenth of that.
 */
export class Pubacks {
  #stream;
  /** @type {number[]} */
  #due = [];

  /** @param {Writable} stream of the connection */
  constructor(stream) {
    this.#stream = stream;
  }

  /** Sends a PUBACK at the end of this turn. @param {number} id of the message */
  send(id) {
    this.#due.push(id);
    if (this.#due.length === 1) process.nextTick(() => this.#send());
  }

  #send() {
    const ids = this.#due;
    this.#due = [];
    if (this.#stream.destroyed) return;
    const bytes = Buffer.allocUnsafe(BYTES * ids.length);
    ids.forEach((id, index) => {
      bytes.set(HEADER, BYTES * index);
      bytes.writeUInt16BE(id, BYTES * index + 2);
    });
    this.#stream.write(bytes);
  }
}

/**
 * Keeps a connection alive while backpressure stops reading. MQTT.js closes a connection without a PINGRESP for one and a half times
 * the keepalive, but here the PINGRESP may only be unread. The broker expects a packet from the client within the same time (MQTT 5,
 * 3.1.2-22), so the client sends PINGREQs. If the broker disappears, TCP cannot deliver them and reports it.
 */
class KeepAlive {
  #client;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /** @param {MqttClient} client */
  constructor(client) {
    this.#client = client;
  }

  /** Reading stops now. */
  start() {
    if (this.#timer || !this.#client.keepalive) return;
    // The deadline of the last PINGRESP may come before the first beat.
    this.#client.reschedulePing(true);
    this.#timer = setInterval(() => this.#beat(), (this.#client.keepalive * 1000) / 2);
  }

  /** Reading resumes, so incoming packets keep the connection alive again. */
  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat() {
    if (!this.#client.connected) return;
    this.#client.sendPing();
    this.#client.reschedulePing(true);
  }
}
