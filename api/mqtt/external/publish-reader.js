import { Writable } from 'node:stream';

/** @import { Duplex } from 'node:stream' */
/** @import { MqttClient } from 'mqtt' */

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
 * Accepts a message. Returns false if the message waits for room. Then the caller reads no further until
 * `next` is called.
 *
 * @callback Receive
 * @param {Publish} message
 * @param {() => void} next
 * @returns {boolean}
 */

/**
 * Puts a reader of publishes between the stream of each connection and MQTT.js. `streamBuilder` is private in
 * the typings of MQTT.js. If a new version lacks it, MQTT.js reads all packets.
 *
 * @param {MqttClient} client not connected yet
 * @param {Receive} receive
 */
export function readPublishes(client, receive) {
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
 * Reads the publishes of one connection from the bytes of each read. For each publish, MQTT.js makes a dozen
 * Buffers, calls a disabled logger some 30 times, and waits for another tick. So messages of one read could
 * share a request to the database only if the database was busy.
 *
 * MQTT.js gets every other packet, and every unusual publish. The reader waits until MQTT.js has handled it,
 * so the order is kept.
 *
 *     a read    [PUBLISH][PUBLISH][PINGRESP][PUBLISH][PUBL         the next read has the rest of the last packet
 *               `--- receive() --'  MQTT.js  receive()
 */
class PublishReader extends Writable {
  #source;
  #others;
  #receive;
  /** The parts of a packet whose rest has not arrived. @type {Buffer[]} */
  #parts = [];
  /** Number of bytes in `#parts`. */
  #size = 0;
  /**
   * Least number of bytes of the packet. A large packet is joined once, when all of its bytes have arrived.
   */
  #needed = 0;
  /**
   * The bytes that are being read. `#at` is the start of a packet in them, `#bodyAt` the end of its fixed
   * header.
   *
   * @type {Buffer}
   */
  #bytes = EMPTY;
  #at = 0;
  #bodyAt = 0;
  /** Requests the next bytes. */
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

  /**
   * Continues to read. A message without room and a packet for MQTT.js interrupt the loop. Both call this
   * function again.
   */
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

  /**
   * Finds the end of the packet at `#at`.
   *
   * @returns {number} index after it; 0: a part of the packet is missing
   */
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

  /** Keeps an incomplete packet until the next read brings its rest. */
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
 * @param {number} bodyAt index after its fixed header
 * @param {number} end
 * @returns {Publish | null} null: MQTT.js has to read it
 */
function readPublish(bytes, at, bodyAt, end) {
  const first = /** @type {number} */ (bytes[at]);
  const qos = (first >> 1) & 3;
  if (first >> 4 !== PUBLISH || qos > 1 || bodyAt + 2 > end) return null;
  const topicAt = bodyAt + 2;
  const topicEnd = topicAt + bytes.readUInt16BE(bodyAt);
  // The topic, the packet id with QoS 1, and the length of the properties.
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

/** Identifiers of two properties, of one byte and of a text (MQTT 5, section 2.2.2.2). */
const PAYLOAD_FORMAT = 0x01;
const CONTENT_TYPE = 0x03;

/**
 * @param {Buffer} bytes
 * @param {number} from
 * @param {number} end of the properties
 * @returns {string | undefined | null} undefined: there is no content type; null: MQTT.js has to read the packet
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
