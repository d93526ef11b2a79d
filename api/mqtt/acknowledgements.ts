import { hash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Replacement } from '../ingest/pipeline.ts';
import type { Receipt } from '../ingest/receipt-times.ts';

/** MQTT 5, section 3.3.2.3.7. A property may occur several times. */
export function replacementOf(properties: { userProperties?: object } | undefined): Replacement {
  const value = (properties?.userProperties as Record<string, unknown> | undefined)?.['replace'];
  if (value === undefined || value === 'false') return false;
  return value === 'true' || 'unclear';
}

/** Sends them in the order in which the messages arrived (MQTT 3.1.1, 4.6.0-2; MQTT 5, 4.6.0-2), even if a later one is committed first. */
export class Acknowledgements {
  /** oldest first */
  #pending: Array<{ isSettled: boolean; acknowledge: () => void }> = [];

  /** The caller calls the result when the message is settled. `acknowledge` is called when all earlier ones are settled too. */
  track(acknowledge: () => void): () => void {
    const message = { isSettled: false, acknowledge };
    this.#pending.push(message);
    return () => {
      message.isSettled = true;
      while (this.#pending[0]?.isSettled) this.#pending.shift()?.acknowledge();
    };
  }

  /** The connection has closed, so the sender sends these messages again. */
  drop() {
    this.#pending.length = 0;
  }

  get pending() {
    return this.#pending.length;
  }
}

/** Type and remaining length of a PUBACK, and its size. A reason code of 0 may be left out (MQTT 5, 3.4.2.1). */
const HEADER = 0x4002;
const BYTES = 4;

/** One write for all PUBACKs of a tick: through MQTT.js each costs 5 µs, as part of one write a tenth of that. */
export class Pubacks {
  #stream;
  #due: number[] = [];

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  send(id: number) {
    this.#due.push(id);
    if (this.#due.length === 1) process.nextTick(() => this.#send());
  }

  #send() {
    const ids = this.#due;
    this.#due = [];
    // One side has ended the connection, so the broker sends the messages again. A write would fail, and would discard
    // data that is not sent yet.
    if (!this.#stream.writable) return;
    const bytes = Buffer.allocUnsafe(BYTES * ids.length);
    let at = 0;
    for (const id of ids) at = bytes.writeUInt16BE(id, bytes.writeUInt16BE(HEADER, at));
    this.#stream.write(bytes);
  }
}

/** Further messages displace the oldest, for example if a client with QoS 2 never sends PUBREL. */
const MAX_OPEN = 1024;

/** Limit for all disconnected clients together, at about 250 bytes each. */
const MAX_ABSENT = 100_000;

type Delivered = {
  qos: number;
  messageId?: number | undefined;
  dup: boolean;
  topic: string;
  payload: Buffer;
};

/** `content`: the payload, or its digest */
type Delivery = { topic: string; content: Buffer | string; receipt: Receipt };

/**
 * Messages of one client by packet identifier, also after their connection closed. A message with the DUP flag may be a redelivery, and
 * then gets the receipt of the first delivery (MQTT 3.1.1, 4.3.2 and 4.3.3). After the PUBACK of QoS 1 the identifier denotes a new
 * message, with or without the DUP flag (MQTT-4.3.2-2). With QoS 2 it is free after the PUBREL.
 */
export class Deliveries {
  #open: Map<number, Delivery> = new Map();

  /** Returns the receipt of a message of QoS 1 or 2. A redelivery has the receipt of the first delivery. */
  receive({ qos, messageId = 0, dup, topic, payload }: Delivered): Receipt {
    const known = this.#open.get(messageId);
    // A client that lost its state reuses the first identifiers for other messages, so the content is compared too.
    if (known && dup && known.topic === topic && isContent(known.content, payload)) return known.receipt;
    const receipt = { from: null };
    if (known) this.#open.delete(messageId);
    // A message with QoS 2 may wait for its PUBREL without a time limit, so only a digest of its payload is stored.
    this.#open.set(messageId, { topic, content: qos === 2 ? digestOf(payload) : payload, receipt });
    if (this.#open.size > MAX_OPEN) this.#forgetOldest();
    return receipt;
  }

  #forgetOldest() {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.#open.delete(oldest);
  }

  release(messageId: number | undefined = 0) {
    this.#open.delete(messageId);
  }

  /** Replaces payloads by digests, because the client may stay disconnected for long. */
  condense() {
    for (const delivery of this.#open.values()) {
      if (typeof delivery.content !== 'string') delivery.content = digestOf(delivery.content);
    }
  }

  get size() {
    return this.#open.size;
  }
}

const digestOf = (payload: Buffer) => hash('sha256', payload, 'base64');

const isContent = (content: Buffer | string, payload: Buffer) =>
  typeof content === 'string' ? content === digestOf(payload) : content.equals(payload);

/** A client may connect again before its older connection closes. Then both connections share the messages. */
export class ClientDeliveries {
  #connected: Map<string, { deliveries: Deliveries; connections: number }> = new Map();
  #absent: LRUCache<string, Deliveries> = new LRUCache({
    maxSize: MAX_ABSENT,
    sizeCalculation: ({ size }) => size,
  });

  open(clientId: string, closed: AbortSignal): Deliveries {
    const known = this.#connected.get(clientId);
    const client = known ?? { deliveries: this.#absent.get(clientId) ?? new Deliveries(), connections: 0 };
    client.connections++;
    this.#absent.delete(clientId);
    this.#connected.set(clientId, client);
    const leave = () => this.#leave(clientId, client);
    if (closed.aborted) leave();
    else closed.addEventListener('abort', leave, { once: true });
    return client.deliveries;
  }

  #leave(clientId: string, client: { deliveries: Deliveries; connections: number }) {
    if (--client.connections > 0) return;
    this.#connected.delete(clientId);
    if (client.deliveries.size === 0) return;
    client.deliveries.condense();
    this.#absent.set(clientId, client.deliveries);
  }
}
