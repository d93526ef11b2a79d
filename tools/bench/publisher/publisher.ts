import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { generate } from 'mqtt-packet';
import { createDevices } from '../load/payloads.ts';
import type { Shape } from '../load/shapes.ts';
import { createPackets } from './packets.ts';

const CONNECTIONS = 8;

/** Bytes of one write: enough to make system calls cheap, and few enough to keep the broker from being idle. */
const CHUNK_BYTES = 64 * 1024;

/** Unacknowledged messages of a connection, if `allow` gives the number of messages. */
const WINDOW = 500;

const LAST_PACKET_ID = 65_535;

/** Length in bytes of CONNACK and PUBACK. A broker sends nothing else to a client that only publishes (MQTT 3.1.1, 3.2 and 3.4). */
const ANSWER_BYTES = 4;
const CONNACK = 0x20;
const PUBACK = 0x40;

interface PublisherOptions {
  url: string;
  shape: Shape;
  /** from `createClocks` */
  clocks: Float64Array;
  onBroken: (error: Error) => void;
  /** called for each message that `due` published */
  onPaced: (device: number, intended: number) => void;
}

type Load = { packets: ReturnType<typeof createPackets>; published: number; allowed: number };

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
    const opening = Array.from({ length: CONNECTIONS }, async (_, index) => {
      const clientId = `bench-publisher-${process.pid}-${index}`;
      return new Sender(await openConnection(options.url, clientId), load, index, options);
    });
    return new Publisher(await Promise.all(opening), load);
  }

  private constructor(senders: Sender[], load: Load) {
    this.#senders = senders;
    this.#load = load;
  }

  get published() {
    return this.#load.published;
  }

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

  #turn(): number {
    this.#next = (this.#next + 1) % this.#senders.length;
    return this.#next;
  }
}

/** MQTT 3.1.1. */
async function openConnection(url: string, clientId: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  socket.write(generate({ cmd: 'connect', clientId, protocolVersion: 4, clean: true, keepalive: 0 }));
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const [connack] = (await once(socket, 'data', { signal: gone.signal })) as [Buffer];
  if (connack[0] === CONNACK && connack[3] === 0) return socket;
  socket.destroy();
  throw new Error(`the broker answers CONNECT with ${connack.toString('hex')}`);
}

/** One connection with its devices. It publishes and counts acknowledgements, and does nothing else. */
class Sender {
  due: number[] = [];
  readonly #socket: Socket;
  readonly #devices: ReturnType<typeof createDevices>;
  readonly #load: Load;
  readonly #onPaced: PublisherOptions['onPaced'];
  #id = 0;
  #unacknowledged = 0;
  #drained = true;
  #ending = false;

  constructor(socket: Socket, load: Load, index: number, options: PublisherOptions) {
    const { shape, clocks, onPaced, onBroken } = options;
    const first = Math.floor((index * shape.devices) / CONNECTIONS);
    const count = Math.floor(((index + 1) * shape.devices) / CONNECTIONS) - first;
    this.#devices = createDevices({ clocks, first, count, samples: shape.samples });
    this.#load = load;
    this.#onPaced = onPaced;
    this.#socket = socket;
    let cut = 0;
    socket.on('data', (chunk) => {
      const type = chunk[(ANSWER_BYTES - cut) % ANSWER_BYTES];
      if (type !== undefined && type !== PUBACK) {
        socket.destroy(new Error(`the broker sends ${type.toString(16)} where a PUBACK belongs`));
        return;
      }
      const whole = cut + chunk.length;
      cut = whole % ANSWER_BYTES;
      this.#unacknowledged -= (whole - cut) / ANSWER_BYTES;
      this.pump();
    });
    socket.on('drain', () => {
      this.#drained = true;
      this.pump();
    });
    socket.on('error', (error) => this.#ending || onBroken(error));
    socket.on('close', () => this.#ending || onBroken(new Error('the broker closed the connection')));
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
        this.#onPaced(device, Number(times[from + message])),
      );
    }
  }

  close() {
    this.#ending = true;
    this.#socket.end(generate({ cmd: 'disconnect' }));
  }

  /** @returns number of written messages, limited by the size of a chunk */
  #write(most: number, onEach?: (device: number, index: number) => void): number {
    const { packets } = this.#load;
    const room = Math.max(1, Math.floor(CHUNK_BYTES / packets.maxBytes));
    const count = Math.min(most, room);
    const chunk = Buffer.allocUnsafe(count * packets.maxBytes);
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
    this.#drained = this.#socket.write(chunk.subarray(0, at));
    return count;
  }
}
