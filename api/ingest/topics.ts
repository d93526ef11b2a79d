import type { Logger } from 'pino';
import { LogThrottle } from '../../common/log-throttle.ts';
import { type FurtherTopics, KINDS, type Topic } from '../../schema/topics.ts';
import type { Context } from '../observability/index.ts';
import type { Retry } from '../store/sending/retry.ts';
import type { Session } from '../store/sending/session.ts';
import type { DeviceQueue } from './admission/index.ts';
import type { AwaitingRegistration } from './awaiting-registration.ts';
import type { DeadLetterBox } from './dead-letter-box.ts';
import type { MessageDecoder } from './decode/index.ts';
import type { Devices, Handler, MeasurementStore } from './handlers/index.ts';
import type { ReplacingMessages } from './handlers/replacing.ts';
import type { Message, Send } from './pipeline.ts';

/** The parts of ingest that a handler may use, also one of a feature. */
export interface HandlerDeps {
  devices: Devices;
  decoder: MessageDecoder;
  measurements: MeasurementStore;
  deadLetters: DeadLetterBox;
  replacing: ReplacingMessages;
  /** messages that wait for the birth of their device */
  awaitingRegistration: AwaitingRegistration;
  /** the topics of the core and of all features, except those of `TopicReader.match` */
  contract: FurtherTopics;
  /** the order of the messages of a device */
  queue: DeviceQueue;
  /** for the statements of the feature */
  database: { session: Session; retry: Retry };
  /** sends commands to devices */
  send: Send;
}

/** Subscriptions at an external broker. */
export interface Subscriptions {
  /** One process of the installation receives each message. */
  shared?: string[];
  /** Each process receives all messages, and the retained ones. */
  own?: string[];
  /** Only this process of the installation receives messages, and no retained ones. */
  sole?: string[];
  /** States of this process: it receives messages of other clients only, and no retained ones. */
  states?: string[];
  /** Shared filters whose topics another shared filter matches. A session may have them from earlier settings. */
  covered?: string[];
  /** other filters of earlier settings */
  former?: string[];
  /** for an operator whose broker refuses one of them */
  hint: string;
}

interface StateMessage {
  topic: string;
  payload: Buffer;
  qos: 0 | 1;
  retain: boolean;
}

/** The state of this process for its senders: online exactly while it receives their messages. */
export interface PresenceMessages {
  topic: string;
  /** of the next connection to an external broker */
  will: () => StateMessage;
  birth: () => StateMessage;
  death: () => StateMessage;
  /** Further states, only at the embedded broker: a connection to an external broker has one last will. */
  furtherStates: (online: boolean) => StateMessage[];
  /** The message of another client wrongly reports this process as offline. */
  reportsOffline: (payload: Buffer) => boolean;
  /** for an operator whose broker refuses them */
  hint: string;
}

/** Whether an account may subscribe to a filter. `isOwn`: the account may publish for the device. */
export type ReadRule = (filter: string, isOwn: (device: string) => boolean) => boolean;

/** Reads the topics of a feature. */
export interface TopicReader {
  /** kind of its routes, by which the pipeline finds the handler */
  kind: string;
  handler: Handler;
  /** false: this process only replays its messages (default true) */
  isLive?: boolean;
  /** Recognizes topics outside the contract. */
  match?: (topic: string) => Topic | null;
  subscriptions?: Subscriptions;
  presence?: PresenceMessages | undefined;
  /** for the sender of a message that nothing reads: how an operator can add its topic */
  unknownTopicHint?: string;
  /** of device accounts at the embedded broker, in addition to the topics of the contract */
  readRule?: ReadRule;
  /** The connection to the broker broke, or was opened again, so messages may have been missed. */
  onInterrupted?: () => void;
  /** No process reads the topic, and the message is dropped. */
  onUnmatched?: (message: Message) => void;
}

/** Opens the topics of a feature for a process, or for a command that stores messages. */
export type OpenTopics = (context: Context, deps: HandlerDeps) => TopicReader;

/** The topics of all features. */
export class Topics {
  readers;
  contract;
  /** For a topic outside the contract. The first reader that matches is used. */
  match: (topic: string) => Topic | null;

  #logger;
  #throttle = new LogThrottle();

  /** @throws if two features handle topics of one kind */
  constructor(readers: TopicReader[], contract: FurtherTopics, logger: Logger) {
    this.readers = readers;
    this.contract = contract;
    this.#logger = logger;
    const kinds = [...KINDS, ...readers.map(({ kind }) => kind)];
    const twice = kinds.find((kind, index) => kinds.indexOf(kind) < index);
    if (twice) throw new Error(`Two features handle topics of the kind ${twice}.`);
    const matching = readers.filter(({ match }) => match);
    this.match = (topic) => {
      if (matching.length === 0 || this.isReserved(topic)) return null;
      for (const reader of matching) {
        const route = this.#guarded(reader, () => reader.match?.(topic));
        if (route) return route;
      }
      return null;
    };
  }

  /** The broker would deliver a message again and again for which a feature fails before the message has a handler. */
  #guarded<T>({ kind }: TopicReader, call: () => T): T | undefined {
    try {
      return call();
    } catch (error) {
      const count = this.#throttle.count(kind);
      if (count > 0)
        this.#logger.error({ err: error, kind, count }, 'the reader of topics of a feature failed');
      return undefined;
    }
  }

  /** No feature can add this topic. */
  isReserved(topic: string): boolean {
    return this.contract.prefixes.some((prefix) => topic.startsWith(prefix));
  }

  get subscriptions(): Subscriptions[] {
    return this.readers.flatMap(({ subscriptions }) => subscriptions ?? []);
  }

  /** null: no feature publishes the state of this process */
  get presence(): PresenceMessages | null {
    return this.readers.find(({ presence }) => presence)?.presence ?? null;
  }

  get readRules(): ReadRule[] {
    return this.readers.flatMap(({ readRule }) => readRule ?? []);
  }

  /** ends the answer to a message that nothing reads; empty: no feature can add topics */
  get hint(): string {
    const hint = this.readers.find(({ unknownTopicHint }) => unknownTopicHint)?.unknownTopicHint;
    return hint ? `, and nothing else reads it; ${hint}` : '';
  }

  interrupt = () => {
    for (const reader of this.readers) this.#guarded(reader, () => reader.onInterrupted?.());
  };

  noteUnmatched(message: Message) {
    for (const reader of this.readers) this.#guarded(reader, () => reader.onUnmatched?.(message));
  }
}
