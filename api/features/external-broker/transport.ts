import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IPublishPacket, MqttClient } from 'mqtt';
import mqttJs from 'mqtt';
import type { Logger } from 'pino';
import type { Config } from '../../../common/settings/config.ts';
import type { Listener } from '../../live/hub.ts';
import {
  type ChannelListener,
  EVERY_PROCESS,
  EVERY_READER,
  Hub,
  isNamedTopic,
  type LiveChannel,
  liveDevice,
  liveTopic,
  readChannel,
  readerOf,
  readerTopic,
  readItems,
  type StatsListener,
  statsProcess,
  statsTopic,
  type Transport,
  WAITED,
} from '../../live/index.ts';
import type { LiveItem, ReadMessage } from '../../live/messages.ts';
import type { Demand, NamedTopic } from '../../live/named-topics.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { Announcer, Interest } from './interest.ts';
import { brokerOptions } from './options.ts';

/** In ms, of the first connection and of an orderly disconnect. After it the process continues without waiting. */
const CONNECT_TIMEOUT_MS = 1000;

/**
 * A separate connection to the broker, only for live changes. So backpressure on the connection of ingest never stops
 * readers, and a slow reader never delays an acknowledgement. The connection has no persistent session, so readers read
 * the database after a reconnect. When one reader follows the whole fleet and another reader follows one device, the
 * broker may send the changes of that device twice. Readers ignore the second copy, because its values are not newer.
 */
export class BrokerTransport implements Transport {
  #logger;
  #hub = new Hub();
  #missed: Set<() => void> = new Set();
  #client;
  #outbox;
  #statsListener: StatsListener | undefined;
  /** By topic. */
  #channels: Map<string, { read: ReadMessage; listeners: Set<ChannelListener> }> = new Map();
  #standing = Promise.resolve();
  #refused = false;
  #publishesAll;
  #wantedListener: () => void = () => {};
  #interest = new Interest({ onNew: () => this.#wantedListener() });
  #announcer;

  constructor({
    mqtt,
    publishesAll,
    keepAliveMs,
    logger,
    metrics,
  }: {
    mqtt: Config['mqtt'];
    /** changes are published even if no reader follows them */
    publishesAll: boolean;
    keepAliveMs: number;
    logger: Logger;
    metrics: Metrics;
  }) {
    this.#logger = logger;
    this.#publishesAll = publishesAll;
    const name = randomBytes(6).toString('hex');
    this.#announcer = new Announcer({
      devices: () => this.#hub.devices,
      send: (payload) => this.#outbox.put(readerTopic(name), payload),
    });
    this.#client = mqttJs.connect(mqtt.url as string, {
      ...brokerOptions(mqtt, keepAliveMs),
      // Processes with the ROLE `http` may share an MQTT_CLIENT_ID.
      clientId: `${mqtt.clientId}-live-${name}`,
      clean: true,
    });
    this.#outbox = new Outbox(this.#client, metrics);
    const drops = new BrokerDrops(this.#client, metrics);
    this.#client.on('connect', async () => {
      this.#refused = false;
      this.#interest.begin();
      await this.#subscribe([
        ...this.#hub.devices.map(liveTopic),
        ...(this.#statsListener ? [EVERY_PROCESS] : []),
        ...this.#followedChannels(),
        ...(this.#publishesAll ? [] : [EVERY_READER]),
      ]);
      if (this.listening) this.#announcer.change();
      for (const listener of this.#missed) listener();
      await drops.subscribe();
    });
    this.#client.on('close', () => drops.forget());
    this.#client.on('error', (error) => logger.debug({ reason: error.message }, 'live connection'));
    this.#client.on('message', (topic, payload, packet) => {
      if (drops.receive(topic, payload)) return;
      if (isNamedTopic(topic)) {
        const channel = this.#channels.get(topic);
        if (channel && !receiveMessage(channel, payload)) metrics.live.inc({ result: 'ignored' });
        return;
      }
      const reader = readerOf(topic);
      if (reader !== null) {
        if (!this.#interest.receive(reader, payload)) metrics.live.inc({ result: 'ignored' });
        return;
      }
      const process = statsProcess(topic);
      const isOurs =
        process === null
          ? this.#receive(liveDevice(topic), payload, packet)
          : process !== '' && this.#statsListener?.(process, payload);
      if (!isOurs) metrics.live.inc({ result: 'ignored' });
    });
  }

  /** True: a reader of any process may follow the device. */
  isWanted(device: string): boolean {
    return this.#publishesAll || this.#interest.has(device) || this.#hub.hasSubscribers(device);
  }

  onWanted(listener: () => void) {
    this.#wantedListener = listener;
  }

  publish(device: string, items: LiveItem[], committedAt: number) {
    this.#outbox.put(liveTopic(device), JSON.stringify(items), performance.now() - committedAt);
  }

  send(
    topic: string,
    payload: string,
    { retain, waited }: { retain?: boolean; waited?: number } = {},
  ): boolean {
    return this.#outbox.put(topic, payload, waited, retain);
  }

  publishAll() {
    this.#publishesAll = true;
  }

  /** All topics of these kinds, because the broker does not report its subscribers. */
  demandOf(kinds: Set<NamedTopic>): Demand {
    return { any: () => kinds.size > 0, wants: (kind) => kinds.has(kind) };
  }

  /** @param devices ids, or `EVERY_DEVICE` @returns a function that unsubscribes */
  async listen(devices: string[], listener: Listener): Promise<() => void> {
    const opened = this.#hub.add(devices, listener);
    // The calls wait for each other, because an earlier call may still be subscribing to the same device.
    this.#standing = this.#standing.then(() => this.#subscribe(opened.map(liveTopic)));
    await this.#standing;
    if (opened.length > 0) this.#announcer.change();
    return () => {
      const closed = this.#hub.remove(devices, listener);
      if (closed.length > 0) this.#announcer.change();
      if (this.#client.connected && closed.length > 0) this.#client.unsubscribe(closed.map(liveTopic));
    };
  }

  publishStats(process: string, snapshot: string) {
    this.#outbox.put(statsTopic(process), snapshot);
  }

  onStats(listener: StatsListener) {
    this.#statsListener = listener;
    this.#standing = this.#standing.then(() => this.#subscribe([EVERY_PROCESS]));
  }

  channel(topic: string, read: ReadMessage): LiveChannel {
    const listeners: Set<ChannelListener> = new Set();
    this.#channels.set(topic, { read, listeners });
    return {
      publish: (message) => void this.#outbox.put(topic, JSON.stringify(message)),
      subscribe: (listener) => {
        listeners.add(listener);
        this.#standing = this.#standing.then(() => this.#subscribe([topic]));
      },
    };
  }

  /** Called after reconnects, because changes may be missing then. */
  onMissed(listener: () => void): () => void {
    this.#missed.add(listener);
    return () => void this.#missed.delete(listener);
  }

  get checks(): Transport['checks'] {
    return {
      live: () =>
        this.#client.connected && !this.#refused
          ? { ok: true, message: 'connected' }
          : {
              ok: false,
              message: `${this.#refused ? 'subscription refused' : 'not connected'}; readers receive changes within 30 s`,
            },
    };
  }

  /** The wait is limited. Without a connection, the process starts anyway, and readers get changes later. */
  async start() {
    const answered = new Promise((resolve) => {
      this.#client.once('connect', () => resolve(undefined));
      this.#client.once('close', () => resolve(undefined));
    });
    this.#client.connect();
    await Promise.race([answered, sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
  }

  async stop() {
    this.#announcer.stop();
    // If another component failed to start, this client never connected. MQTT.js (5.16) cannot end such a client.
    if (!this.#client.stream) return;
    this.#outbox.flush();
    await Promise.race([this.#client.endAsync(), sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
    this.#client.stream.destroy();
  }

  get listening() {
    return this.#hub.devices.length > 0;
  }

  async #subscribe(filters: string[]) {
    if (!this.#client.connected || filters.length === 0) return;
    try {
      // Retain handling 2: the broker sends no retained messages. Millrace retains none on these topics, so they would be outdated.
      const granted = await this.#client.subscribeAsync(filters, { qos: 0, rh: 2 });
      this.#refused = granted.some(({ qos }) => qos > 2);
    } catch {
      // An error of a broken connection is no refusal: on the next connection the client subscribes to all topics again.
      this.#refused = this.#client.connected;
    }
    if (this.#refused)
      this.#logger.warn({}, 'the broker does not let us subscribe to live changes; they are read instead');
  }

  #followedChannels(): string[] {
    return [...this.#channels].filter(([, { listeners }]) => listeners.size > 0).map(([topic]) => topic);
  }

  #receive(device: string, payload: Buffer, packet: IPublishPacket) {
    const items = readItems(device, payload);
    if (!items) return false;
    this.#hub.publish(device, items, performance.now() - waitedMs(packet));
    return true;
  }
}

/** @returns false: the message is not valid */
function receiveMessage(
  { read, listeners }: { read: ReadMessage; listeners: Set<ChannelListener> },
  payload: Buffer,
): boolean {
  const message = readChannel(payload, read);
  if (message !== null) for (const listener of listeners) listener(message);
  return message !== null;
}

/** Topic on which Mosquitto reports how many messages it has dropped since its start, because the queue of a client was full. */
const DROPPED = '$SYS/broker/publish/messages/dropped';

/**
 * Counts the messages that an external broker dropped after it acknowledged them to the device. Only Mosquitto reports this count by MQTT.
 * The count is unknown with another broker, and when the broker does not let Millrace read the topic.
 */
class BrokerDrops {
  #client;
  #dropped = Number.NaN;

  constructor(client: MqttClient, metrics: Pick<Metrics, 'gauge'>) {
    this.#client = client;
    metrics.gauge(
      'iot_broker_dropped_messages',
      'Messages that the external broker dropped since its start, as Mosquitto publishes them on $SYS; missing for other brokers',
      () => this.#dropped,
    );
  }

  async subscribe() {
    try {
      await this.#client.subscribeAsync(DROPPED, { qos: 0 });
    } catch {
      // The broker may forbid this topic. Live changes work without the count.
    }
  }

  receive(topic: string, payload: Buffer): boolean {
    if (topic !== DROPPED) return false;
    this.#dropped = Number(payload.toString('latin1'));
    return true;
  }

  /** The broker may restart before the next connection, and then its count starts at 0. */
  forget() {
    this.#dropped = Number.NaN;
  }
}

/** Behind a slow broker further changes are dropped, and readers read the database. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Collects the messages of one iteration of the event loop, and then writes them at once, directly to the stream of the connection. */
export class Outbox {
  #client;
  #live;
  #packets: Buffer[] = [];
  #bytes = 0;

  constructor(client: MqttClient, { live }: Pick<Metrics, 'live'>) {
    this.#client = client;
    this.#live = live;
  }

  flush() {
    if (this.#client.connected && this.#packets.length > 0)
      this.#client.stream.write(Buffer.concat(this.#packets, this.#bytes));
    this.#packets = [];
    this.#bytes = 0;
  }

  /**
   * Written at the end of this iteration of the event loop.
   * @param waited ms since the oldest commit in the message
   * @returns false: the message was dropped
   */
  put(topic: string, payload: string, waited?: number, retain?: boolean): boolean {
    if (!this.#client.connected || this.#client.stream.writableLength + this.#bytes > MAX_WAITING_BYTES) {
      this.#live.inc({ result: 'dropped' });
      return false;
    }
    const packet = publishPacket(topic, payload, waited, retain);
    this.#live.inc({ result: 'published' });
    this.#bytes += packet.length;
    if (this.#packets.push(packet) === 1) setImmediate(() => this.flush());
    return true;
  }
}

/** QoS 0, without the flags DUP and RETAIN (MQTT 5, section 3.3.1). */
const PUBLISH = 0x30;

const RETAIN = 0x01;

/** A name and a text, which brokers forward unaltered (MQTT 5, section 3.3.2.3.7). */
const USER_PROPERTY = 0x26;

/** In ms. A greater value of `WAITED` is not plausible, and is read as 0. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Encodes a PUBLISH of MQTT 5. A publish through MQTT.js costs the ingest process 11 µs or more. A publish with this
 * function takes 3 µs, of which JSON takes 2 µs.
 * @param waited see `WAITED`; undefined: the message contains no commit
 */
export function publishPacket(topic: string, payload: string, waited?: number, retain: boolean = false) {
  const bytes = Buffer.byteLength(payload);
  const text = waited === undefined ? '' : String(Math.round(waited));
  // The properties are much shorter than 128 bytes, so their length takes one byte.
  const properties = text === '' ? 0 : 1 + 2 + WAITED.length + 2 + text.length;
  const topicBytes = Buffer.byteLength(topic);
  const rest = 2 + topicBytes + 1 + properties + bytes;
  const packet = Buffer.allocUnsafe(1 + lengthOfLength(rest) + rest);
  packet[0] = retain ? PUBLISH | RETAIN : PUBLISH;
  let at = packet.writeUInt16BE(topicBytes, writeLength(packet, 1, rest));
  at += packet.write(topic, at);
  packet[at++] = properties;
  if (properties > 0) {
    packet[at++] = USER_PROPERTY;
    at = writeText(packet, writeText(packet, at, WAITED), text);
  }
  packet.write(payload, at);
  return packet;
}

/** 0: the property is missing or not plausible. */
export function waitedMs({ properties }: IPublishPacket): number {
  const waited = Number(properties?.userProperties?.[WAITED]);
  return waited >= 0 && waited <= LONGEST_WAIT_MS ? waited : 0;
}

/** The limit of a variable byte integer (MQTT 5, section 1.5.5), with seven bits per byte. */
function lengthOfLength(value: number) {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

function writeLength(packet: Buffer, from: number, value: number): number {
  let at = from;
  let rest = value;
  for (; rest > 127; rest >>>= 7) packet[at++] = (rest & 127) | 128;
  packet[at++] = rest;
  return at;
}

function writeText(packet: Buffer, from: number, text: string): number {
  const at = packet.writeUInt16BE(text.length, from);
  return at + packet.write(text, at, 'latin1');
}
