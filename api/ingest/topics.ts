import type { Topic } from '../../schema/topics.ts';
import type { Context } from '../observability/index.ts';
import type { Retry } from '../store/sending/retry.ts';
import type { Session } from '../store/sending/session.ts';
import type { DeviceQueue } from './admission/index.ts';
import type { AwaitingRegistration } from './awaiting-registration.ts';
import type { DeadLetterBox } from './dead-letter-box.ts';
import type { MessageDecoder } from './decode/index.ts';
import type { Devices, Handler, MeasurementStore } from './handlers/index.ts';
import type { Message, Send } from './pipeline.ts';

/** A topic outside the contract, as a feature reads it. */
export interface FurtherTopic {
  kind: string;
  /** name or id; empty: the payload names the device */
  device: string;
  sparkplug?: undefined;
}

export type Route = Topic | FurtherTopic;

/** What a feature that reads topics may use of ingest. */
export interface IngestDoor {
  devices: Devices;
  decoder: MessageDecoder;
  measurements: MeasurementStore;
  deadLetters: DeadLetterBox;
  /** messages that wait for the birth of their device */
  awaitingRegistration: AwaitingRegistration;
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
  /** Shared filters whose topics another shared filter matches. A session may have them from earlier settings. */
  covered?: string[];
  /** for an operator whose broker refuses one of them */
  hint: string;
}

/** What a feature brings to read topics. */
export interface TopicReader {
  /** of its routes */
  kind: string;
  handler: Handler;
  /** Missing: `parseTopic` reads its topics. Otherwise it is asked for topics that the contract does not have. */
  match?: (topic: string) => FurtherTopic | null;
  subscriptions?: Subscriptions;
  /** No process reads the topic, and the message is dropped. */
  onUnmatched?: (message: Message) => void;
}

/** Opens the topics of a feature for a process, or for a command that stores messages. */
export type OpenTopics = (context: Context, door: IngestDoor) => TopicReader;

const NO_TOPIC = () => null;

/** The topics of all features. */
export class Topics {
  readers;
  /** Of a topic outside the contract. The first reader that matches is used. */
  match: (topic: string) => FurtherTopic | null;

  constructor(readers: TopicReader[]) {
    this.readers = readers;
    const [only = NO_TOPIC, ...others] = readers.flatMap(({ match }) => match ?? []);
    this.match =
      others.length === 0
        ? only
        : (topic) => {
            for (const match of [only, ...others]) {
              const route = match(topic);
              if (route) return route;
            }
            return null;
          };
  }

  get subscriptions(): Subscriptions[] {
    return this.readers.flatMap(({ subscriptions }) => subscriptions ?? []);
  }

  noteUnmatched(message: Message) {
    for (const { onUnmatched } of this.readers) onUnmatched?.(message);
  }
}
