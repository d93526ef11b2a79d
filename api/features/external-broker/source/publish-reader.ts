import { type Duplex, Writable } from 'node:stream';
import type { MqttClient } from 'mqtt';
import type { Replacement } from '../../../ingest/pipeline.ts';

export interface Publish {
  topic: string;
  payload: Buffer;
  qos: number;
  /** undefined with QoS 0 */
  messageId: number | undefined;
  dup: boolean;
  retain: boolean;
  contentType: string | undefined;
  /** The user property `replace`. MQTT.js reads all messages with user properties. */
  replaces?: Replacement;
}

/** Returns false if the message must wait, because too much is unsettled. Then the caller reads no further until `next` is called. */
export type Receive = (message: Publish, next: () => void) => boolean;

/** The client must not be connected yet. If a new MQTT.js lacks the private `streamBuilder`, it reads all packets itself. */
export function readPublishes(client: MqttClient, receive: Receive) {
  const inside = client as unknown as { streamBuilder?: (client: MqttClient) => Duplex };
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

/** The remaining length has seven bits in each byte (MQTT 5, section 1.5.5). */
const MAX_LENGTH_BYTES = 4;

/**
 * Reads the publishes of one connection directly from the bytes of each read. For each publish, MQTT.js creates a dozen
 * Buffers, calls a disabled logger some 30 times, and waits for another tick. So with MQTT.js, messages of one read
 * could share a request to the database only if the database was busy.
 *
 * MQTT.js gets every other packet, and every unusual publish. The reader waits until MQTT.js has handled such a packet,
 * so all packets are handled in order.
 *
 *     a read    [PUBLISH][PUBLISH][PINGRESP][PUBLISH][PUBL         the next read has the rest of the last packet
 *               `--- receive() --'  MQTT.js  receive()
 */
class PublishReader extends Writable {
  #source;
  #others;
  #receive;
  #parts: Buffer[] = [];
  #size = 0;
  /** Bytes that must arrive before the incomplete packet is read again. So a large packet is joined only once. */
  #needed = 0;
  /** Index of the current packet in `#bytes`, and index after its fixed header. */
  #bytes: Buffer = EMPTY;
  #at = 0;
  #bodyAt = 0;
  #requestNext = () => {};

  /** `others`: stream through which MQTT.js receives packets */
  constructor(source: Duplex, others: NodeJS.WritableStream, receive: Receive) {
    super();
    this.#source = source;
    this.#others = others;
    this.#receive = receive;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void) {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) {
      done();
      return;
    }
    this.#bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#requestNext = done;
    this.#read();
  }

  /** A message that must wait, and a packet for MQTT.js, interrupt the loop. Afterwards this function is called again. */
  #read = () => {
    // After the connection is closed, the broker sends the rest again.
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

  /** Returns 0 if the packet is incomplete. */
  #endOfPacket(): number {
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
    // More than four bytes are malformed. MQTT.js gets the bytes, and reports the error.
    this.#bodyAt = bytes.length;
    return bytes.length;
  }

  #keepRest() {
    const rest = this.#bytes.subarray(this.#at);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#bytes = EMPTY;
    this.#at = 0;
    this.#requestNext();
  }
}

/** First byte of a PUBLISH (MQTT 5, section 3.3.1). */
const PUBLISH = 3;
const DUP = 0x08;
const RETAIN = 0x01;

/** Their length takes one byte. MQTT.js reads publishes with longer properties. */
const MAX_PROPERTIES = 0x7f;

/** `bodyAt`: index after the fixed header; `end`: index after the packet. null: MQTT.js has to read the packet. */
function readPublish(bytes: Buffer, at: number, bodyAt: number, end: number): Publish | null {
  const first = bytes[at] as number;
  const qos = (first >> 1) & 3;
  if (first >> 4 !== PUBLISH || qos > 1 || bodyAt + 2 > end) return null;
  const topicAt = bodyAt + 2;
  const topicEnd = topicAt + bytes.readUInt16BE(bodyAt);
  // A publish has the topic, with QoS 1 the packet id, and then the length of the properties.
  const lengthAt = topicEnd + 2 * qos;
  if (topicEnd === topicAt || lengthAt >= end) return null;
  const length = bytes[lengthAt] as number;
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

/** A byte, and a text (MQTT 5, section 2.2.2.2). */
const PAYLOAD_FORMAT = 0x01;
const CONTENT_TYPE = 0x03;

/** Returns undefined without a content type, and null if MQTT.js has to read the packet. */
function contentTypeIn(bytes: Buffer, from: number, end: number): string | undefined | null {
  let contentType: string | undefined;
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
