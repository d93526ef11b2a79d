import { createDevices } from '../load/payloads.ts';
import type { Shape } from '../load/shapes.ts';
import { type Connection, openConnection } from './connection.ts';
import { createPackets } from './packets.ts';

/** Bytes of one write: enough to make system calls cheap, and few enough to keep the broker from being idle. */
const CHUNK_BYTES = 64 * 1024;

/** Unacknowledged messages of a connection, if `allow` gives the number of messages. */
const WINDOW = 500;

const LAST_PACKET_ID = 65_535;

interface PublisherOptions {
  /** URL of the broker */
  url: string;
  shape: Shape;
  connections: number;
  /** from `createClocks` */
  clocks: Float64Array;
  onBroken: (error: Error) => void;
  /** called for each message that `due` published */
  onPaced?: (device: number, intended: number) => void;
}

/**
 * Several connections, each for different devices. The broker acknowledges a message before it is committed. `allow` keeps the broker's
 * queue short: the pipeline counts the commits, and calls `allow` again and again.
 */
export class Publisher {
  readonly #senders: Sender[];
  readonly #load: Load;
  #next = 0;

  static async open(options: PublisherOptions): Promise<Publisher> {
    const load = { packets: createPackets(options.shape), published: 0, allowed: 0 };
    const indexes = Array.from({ length: options.connections }, (_, index) => index);
    return new Publisher(await Promise.all(indexes.map((index) => Sender.open(options, load, index))), load);
  }

  private constructor(senders: Sender[], load: Load) {
    this.#senders = senders;
    this.#load = load;
  }

  get published() {
    return this.#load.published;
  }

  /** @param messages in total */
  allow(messages: number) {
    this.#load.allowed = messages;
    const first = this.#turn();
    for (let at = 0; at < this.#senders.length; at++)
      this.#senders[(first + at) % this.#senders.length]?.pump();
  }

  /** Adds a message even if earlier messages are unacknowledged. @param intended in ms of `performance.now()` */
  due(intended: number) {
    this.#senders[this.#turn()]?.due.push(intended);
  }

  flush() {
    for (const sender of this.#senders) sender.flush();
  }

  close() {
    for (const sender of this.#senders) sender.close();
  }

  /** All connections get an equal share. */
  #turn(): number {
    this.#next = (this.#next + 1) % this.#senders.length;
    return this.#next;
  }
}

/** The packets, and the numbers of messages of all connections together. */
type Load = { packets: ReturnType<typeof createPackets>; published: number; allowed: number };

/** One connection with its devices. */
class Sender {
  /** intended times */
  due: number[] = [];
  readonly close: Connection['close'];
  readonly #send: Connection['send'];
  readonly #devices: ReturnType<typeof createDevices>;
  readonly #load: Load;
  readonly #onPaced: PublisherOptions['onPaced'];
  #id = 0;
  #unacknowledged = 0;
  #drained = true;

  static async open(options: PublisherOptions, load: Load, index: number): Promise<Sender> {
    const { url, onBroken } = options;
    const connection = await openConnection({
      url,
      clientId: `bench-publisher-${process.pid}-${index}`,
      onAcknowledged(many) {
        sender.#unacknowledged -= many;
        sender.pump();
      },
      onDrain() {
        sender.#drained = true;
        sender.pump();
      },
      onBroken,
    });
    const sender = new Sender(options, load, index, connection);
    return sender;
  }

  private constructor(
    { shape, connections, clocks, onPaced }: PublisherOptions,
    load: Load,
    index: number,
    { send, close }: Connection,
  ) {
    const first = Math.floor((index * shape.devices) / connections);
    const count = Math.floor(((index + 1) * shape.devices) / connections) - first;
    this.#devices = createDevices({ clocks, first, count, samples: shape.samples });
    this.#load = load;
    this.#onPaced = onPaced;
    this.#send = send;
    this.close = close;
  }

  pump() {
    while (this.#drained) {
      const most = Math.min(WINDOW - this.#unacknowledged, this.#load.allowed - this.#load.published);
      if (most <= 0) return;
      this.#write(most);
    }
  }

  flush() {
    const times = this.due;
    this.due = [];
    for (let at = 0; at < times.length; ) {
      const from = at;
      at += this.#write(times.length - at, (device, message) =>
        this.#onPaced?.(device, Number(times[from + message])),
      );
    }
  }

  /** @returns number of written messages, limited by the size of a chunk */
  #write(most: number, onEach?: (device: number, index: number) => void): number {
    const { packets } = this.#load;
    const room = Math.max(1, Math.floor(CHUNK_BYTES / packets.most));
    const count = Math.min(most, room);
    const chunk = Buffer.allocUnsafe(count * packets.most);
    const now = Date.now();
    let at = 0;
    for (let message = 0; message < count; message++) {
      this.#devices.advance(now);
      this.#id = this.#id === LAST_PACKET_ID ? 1 : this.#id + 1;
      at = packets.write(chunk, at, this.#devices, this.#id);
      onEach?.(this.#devices.number, message);
    }
    this.#load.published += count;
    this.#unacknowledged += count;
    this.#drained = this.#send(chunk.subarray(0, at));
    return count;
  }
}
