import { Writable } from 'node:stream';
import { keptBytes, PayloadMemory } from '../../ingest/admission/index.js';
import { Acknowledgements, Deliveries, Pubacks } from '../acknowledgements.js';
import { KeepAlive } from './keep-alive.js';

/** @import { Duplex } from 'node:stream' */
/** @import { IPublishPacket, MqttClient } from 'mqtt' */
/** @import { Receipt } from '../../ingest/receipt-times.js' */

/** MQTT.js reads this answer as "continue with the next packet, but send no PUBACK". */
const NO_PUBACK_YET = new Error('acknowledged after the commit');

/**
 * A message as the broker sent it.
 *
 * @typedef {object} Publish
 * @property {string} topic
 * @property {Buffer} payload
 * @property {number} qos
 * @property {number | undefined} messageId of QoS 1
 * @property {boolean} dup
 * @property {boolean} retain
 * @property {string | undefined} contentType
 */

/**
 * Takes a message. Returns false if the message waits for room. Then the caller reads no further until `next` is called.
 *
 * @callback Receive
 * @param {Publish} message
 * @param {() => void} next
 * @returns {boolean}
 */

/**
 * Makes an MQTT.js client acknowledge after the commit, with many messages in flight. By default MQTT.js handles one packet after the
 * other, and sends each PUBACK before the next packet.
 *
 * `PublishReader` reads nearly all publishes. MQTT.js reads the others, and calls `handleMessage` for each. An error as the answer means:
 * next packet, no PUBACK. So this module sends the PUBACK later, in order of arrival. No answer means: read no further. That is the
 * backpressure. The PUBACKs go directly to the stream of the connection. `test/thorough/long/subscriber-acknowledgements.test.js` fails when
 * a new version of MQTT.js behaves differently.
 *
 * @param {MqttClient} client
 * @param {object} options
 * @param {(message: Publish, receipt: Receipt) => unknown} options.onPublish resolves when the message is settled;
 *   rejects when it must stay unacknowledged
 * @param {(error: Error) => void} options.onFailed called with the error of a message that failed. All later messages wait for
 *   its acknowledgement, so the caller closes the connection, and the broker sends them all again
 * @param {{ messages: number, bytes: number }} options.maxUnsettled from here on the client reads no further. `bytes` also has those of
 *   settled messages that wait for the PUBACK of an earlier one. The receive maximum limits their number
 */
export function acknowledgeAfterCommit(client, { onPublish, onFailed, maxUnsettled }) {
  const heartbeat = new KeepAlive(client);
  const memory = new PayloadMemory();
  const open = () => ({
    acknowledgements: new Acknowledgements(),
    pubacks: new Pubacks(client.stream),
    /** Of messages that wait for the PUBACK of an earlier one. `deliveries` keeps their payloads. */
    settledBytes: 0,
  });
  /** @type {ReturnType<typeof open> | null} null until its first message */
  let connection = null;
  /** The broker sends these messages again on its next connection. */
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
   * @returns {(() => void) | null} the caller calls it when the message is settled; null: it has no PUBACK
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

  /** @param {Publish} message @returns {Promise<unknown>} settles with the message, also when `onPublish` throws at once */
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
    // Before `deliveries` keeps it: a view of what the socket read would keep up to 64 KiB alive.
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
      // Nothing stops reading any more.
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

/**
 * Puts a reader of publishes between the stream of each connection and MQTT.js. `streamBuilder` is private in the typings of MQTT.js. If a
 * new version has none, MQTT.js reads everything, as before.
 *
 * @param {MqttClient} client not connected yet
 * @param {Receive} receive
 */
function readPublishes(client, receive) {
  const inside = /** @type {{ streamBuilder?: (client: MqttClient) => Duplex }} */ (
    /** @type {unknown} */ (client)
  );
  const build = inside.streamBuilder;
  if (!build) return;
  inside.streamBuilder = (self) => {
    const stream = build(self);
    const pipe = stream.pipe.bind(stream);
    stream.pipe = (others) => {
      pipe(new PublishReader(stream, others, receive));
      return others;
    };
    return stream;
  };
}

const EMPTY = Buffer.alloc(0);

/** MQTT 5, section 1.5.5: the remaining length takes one to four bytes, seven bits each. */
const MAX_LENGTH_BYTES = 4;

/**
 * Reads the publishes of one connection from the bytes of each read. For each of them MQTT.js makes a dozen Buffers, calls a disabled logger
 * some 30 times, and waits for another tick. So messages of one read could not share a request to the database, unless it was busy.
 *
 * MQTT.js gets every other packet, and every publish that is unusual. The reader waits until MQTT.js has handled it, so the order stays.
 *
 *     a read    [PUBLISH][PUBLISH][PINGRESP][PUBLISH][PUBL         the next read has the rest of the last packet
 *               `--- receive() --'  MQTT.js  receive()
 */
class PublishReader extends Writable {
  #source;
  #others;
  #receive;
  /** What was read of a packet whose rest is missing. @type {Buffer[]} */
  #parts = [];
  /** Bytes in them. */
  #size = 0;
  /** Bytes that the packet has at least. A large packet is joined once, when all of it is there. */
  #needed = 0;
  /** The bytes that are being read, the packet in them, and its part behind the fixed header. @type {Buffer} */
  #bytes = EMPTY;
  #at = 0;
  #bodyAt = 0;
  /** Asks for the next bytes. */
  #done = () => {};

  /**
   * @param {Duplex} source of the connection
   * @param {NodeJS.WritableStream} others of MQTT.js
   * @param {Receive} receive
   */
  constructor(source, others, receive) {
    super();
    this.#source = source;
    this.#others = others;
    this.#receive = receive;
  }

  /** @override @param {Buffer} chunk @param {BufferEncoding} _encoding @param {() => void} done */
  _write(chunk, _encoding, done) {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) {
      done();
      return;
    }
    this.#bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#done = done;
    this.#read();
  }

  /** Reads on. A message without room and a packet for MQTT.js interrupt it. Both call it again. */
  #read = () => {
    // The broker sends the messages of a closed connection again.
    while (!this.#source.destroyed) {
      const at = this.#at;
      const end = this.#endOfPacket();
      if (end === 0) return this.#keepRest();
      this.#at = end;
      const message = readPublish(this.#bytes, at, this.#bodyAt, end);
      if (!message) {
        this.#others.write(this.#bytes.subarray(at, end), this.#read);
        return;
      }
      if (!this.#receive(message, this.#read)) return;
    }
  };

  /** Finds the packet at `#at`. @returns {number} index behind it; 0: its rest is missing */
  #endOfPacket() {
    const bytes = this.#bytes;
    let length = 0;
    for (let index = 1; index <= MAX_LENGTH_BYTES; index++) {
      const byte = bytes[this.#at + index];
      if (byte === undefined) {
        this.#needed = index + 1;
        return 0;
      }
      length |= (byte & 0x7f) << (7 * (index - 1));
      if (byte > 0x7f) continue;
      this.#bodyAt = this.#at + index + 1;
      const end = this.#bodyAt + length;
      this.#needed = end - this.#at;
      return end > bytes.length ? 0 : end;
    }
    // A length of more than four bytes is malformed. MQTT.js gets the bytes, and reports it.
    this.#bodyAt = bytes.length;
    return bytes.length;
  }

  /** The next read brings the rest of the packet. */
  #keepRest() {
    const rest = this.#bytes.subarray(this.#at);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#bytes = EMPTY;
    this.#at = 0;
    this.#done();
  }
}

/** The type in the first byte of a PUBLISH, and its flags (MQTT 5, section 3.3.1). */
const PUBLISH = 3;
const DUP = 0x08;
const RETAIN = 0x01;

/** Longest properties whose length is one byte. */
const MAX_PROPERTIES = 0x7f;

/**
 * @param {Buffer} bytes
 * @param {number} at of the packet
 * @param {number} bodyAt behind its fixed header
 * @param {number} end
 * @returns {Publish | null} null: MQTT.js has to read it
 */
function readPublish(bytes, at, bodyAt, end) {
  const first = /** @type {number} */ (bytes[at]);
  const qos = (first >> 1) & 3;
  if (first >> 4 !== PUBLISH || qos > 1 || bodyAt + 2 > end) return null;
  const topicAt = bodyAt + 2;
  const topicEnd = topicAt + bytes.readUInt16BE(bodyAt);
  // The topic, with QoS 1 the id, and the length of the properties.
  const lengthAt = topicEnd + 2 * qos;
  if (topicEnd === topicAt || lengthAt >= end) return null;
  const length = /** @type {number} */ (bytes[lengthAt]);
  const payloadAt = lengthAt + 1 + length;
  if (length > MAX_PROPERTIES || payloadAt > end) return null;
  const contentType = length === 0 ? undefined : contentTypeIn(bytes, lengthAt + 1, payloadAt);
  if (contentType === null) return null;
  return {
    topic: bytes.toString('utf8', topicAt, topicEnd),
    payload: bytes.subarray(payloadAt, end),
    qos,
    messageId: qos === 0 ? undefined : bytes.readUInt16BE(topicEnd),
    dup: (first & DUP) !== 0,
    retain: (first & RETAIN) !== 0,
    contentType,
  };
}

/** Properties: one byte, and a text (MQTT 5, section 2.2.2.2). */
const PAYLOAD_FORMAT = 0x01;
const CONTENT_TYPE = 0x03;

/**
 * @param {Buffer} bytes
 * @param {number} from
 * @param {number} end of the properties
 * @returns {string | undefined | null} undefined: they have none; null: MQTT.js has to read them
 */
function contentTypeIn(bytes, from, end) {
  /** @type {string | undefined} */
  let contentType;
  let at = from;
  while (at < end) {
    const property = bytes[at++];
    if (property === PAYLOAD_FORMAT) at++;
    else if (property === CONTENT_TYPE && contentType === undefined && at + 2 <= end) {
      const textAt = at + 2;
      at = textAt + bytes.readUInt16BE(at);
      contentType = bytes.toString('utf8', textAt, at);
    } else return null;
  }
  return at === end ? contentType : null;
}
