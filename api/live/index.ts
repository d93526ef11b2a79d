import type { Send } from '../ingest/pipeline.ts';
import type { Device } from '../ingest/registry/cache.ts';
import type { Context } from '../observability/index.ts';
import type { Check } from '../observability/readiness.ts';
import { createLocalTransport, type Listener } from './hub.ts';
import { type LiveItem, liveTopic, type ReadMessage } from './messages.ts';
import {
  type Demand,
  type NamedFollower,
  type NamedTopic,
  NamedTopics,
  type SendLive,
} from './named-topics.ts';
import { Publisher } from './publisher.ts';

export { Hub } from './hub.ts';
export { InstallationStats } from './installation-stats.ts';
export {
  EVERY_DEVICE,
  EVERY_PROCESS,
  EVERY_READER,
  FIRST_NAMED_LEVEL,
  isNamedTopic,
  isStatsTopic,
  liveDevice,
  liveTopic,
  reachesLive,
  readChannel,
  readerOf,
  readerTopic,
  readItems,
  statsProcess,
  statsTopic,
  WAITED,
} from './messages.ts';

export interface BrokerClients {
  /**
   * `any`: whether a client subscribes to `iot/live/...`; `anyAsking`: whether the filter of any client asks
   * for named topics (`named-topics.ts`); `ask`: whether the filter of any client asks for this named topic; `reserve`: this topic is
   * no named topic
   */
  followers: {
    any: boolean;
    anyAsking: boolean;
    ask: (topic: string) => boolean;
    reserve: (topic: string) => void;
  };
  send: Send;
}

/** For an external broker, which does not report its subscribers. */
export const NOBODY = { any: false, anyAsking: false, ask: () => false, reserve() {} };

/** returns false if the snapshot is not valid */
export type StatsListener = (process: string, snapshot: Buffer) => boolean;

/** `message`: JSON in one line */
export type ChannelListener = (message: string) => void;

/** Messages of a feature on `iot/live/NAME`, from the process that publishes them to all processes that subscribe. */
export interface LiveChannel {
  publish: (message: object) => void;
  subscribe: (listener: ChannelListener) => void;
}

/** Carries live changes from the process that commits them to the processes that serve readers. */
export interface Transport {
  isWanted: (device: string) => boolean;
  /** called when devices get their first subscribers in other processes */
  onWanted: (listener: () => void) => void;
  /** `committedAt`: time of the commit of the oldest item, in ms of `performance.now()` */
  publish: (device: string, items: LiveItem[], committedAt: number) => void;
  /** on a named topic (`named-topics.ts`), or on a topic of a follower of named topics */
  send: SendLive;
  /** from then on, changes are published even if no reader follows them */
  publishAll: () => void;
  demandOf: (kinds: Set<NamedTopic>) => Demand;
  /** the promise resolves to a function that unsubscribes. From then on no change is missed, unless the broker is not connected */
  listen: (devices: string[], listener: Listener) => Promise<() => void>;
  publishStats: (process: string, snapshot: string) => void;
  /** snapshots of all processes, possibly including this process */
  onStats: (listener: StatsListener) => void;
  channel: (topic: string, read: ReadMessage) => LiveChannel;
  /** called when changes may have been missed and now arrive again; returns a function that removes the listener */
  onMissed: (listener: () => void) => () => void;
  checks: Record<string, () => Check>;
  start: () => Promise<void>;
  stop: () => Promise<void>;
  listening: boolean;
}

/** `publishesAll`: changes are published even if no reader follows them */
export type OpenTransport = (
  context: Context,
  options: { publishesAll: boolean; keepAliveMs: number },
) => Transport;

/**
 * With MQTT_URL the changes go through that broker, on a separate connection. With the embedded broker they stay in
 * this process. Changes are sent with QoS 0, because a reader that misses a change reads the database again.
 */
export function createLive(
  context: Context,
  {
    source,
    openTransport,
    keepAliveMs,
  }: {
    /** null: this process receives no messages from a broker */
    source: { followers: BrokerClients['followers'] | null; send: Send } | null;
    /** missing: the embedded broker is used, and changes stay in this process */
    openTransport?: OpenTransport | undefined;
    keepAliveMs: number;
  },
) {
  const { config } = context;
  const { topics, isRetained } = config.live;
  const clients: BrokerClients = {
    followers: source?.followers ?? NOBODY,
    send: source?.send ?? (() => {}),
  };
  const publishesAll = config.live.isAlways || topics.length > 0 || isRetained;
  const transport = openTransport?.(context, { publishesAll, keepAliveMs }) ?? createLocalTransport(clients);
  const send: SendLive = (topic, payload, options) => transport.send(topic, payload, options);
  const named = new NamedTopics({
    demand: transport.demandOf(new Set(topics)),
    send,
    isRetained,
  });
  // A broker that restarted without persistence has lost its retained messages.
  transport.onMissed(() => named.forget());
  const publisher = new Publisher(transport, named);

  return {
    publishChanges: publisher.publishChanges,
    send,
    /** Must be called before the first message. */
    follow(follower: NamedFollower) {
      named.follow(follower);
      transport.publishAll();
    },
    publishState: (device: Device) => named.publishState(device),
    remove: (device: Device) => named.remove(device),
    listen: ((devices, listener) => transport.listen(devices, listener)) satisfies Transport['listen'],
    onMissed: ((listener) => transport.onMissed(listener)) satisfies Transport['onMissed'],
    publishStats: ((process, snapshot) =>
      transport.publishStats(process, snapshot)) satisfies Transport['publishStats'],
    onStats: ((listener) => transport.onStats(listener)) satisfies Transport['onStats'],
    /**
     * Must be called before the first message. `name`: last level of the topic `iot/live/NAME`. `read` checks a message that comes from the
     * broker, where other clients may publish.
     */
    channel(name: string, read: ReadMessage): LiveChannel {
      const topic = liveTopic(name);
      named.reserve(name);
      clients.followers.reserve(topic);
      return transport.channel(topic, read);
    },
    checks: transport.checks,
    start: () => transport.start(),
    async stop() {
      publisher.stop();
      await transport.stop();
    },
    get listening() {
      return transport.listening;
    },
  };
}

export type Live = ReturnType<typeof createLive>;
