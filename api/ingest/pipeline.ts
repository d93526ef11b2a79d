import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { MillraceError, type Refusal } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { brokenNameRule, type Identity, identifyDevice } from '../../schema/ids.ts';
import type { Topic } from '../../schema/topics.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ProcessStats } from '../observability/process-stats.ts';
import type { Refusals } from '../store/dead-letters.ts';
import type { Retry } from '../store/sending/retry.ts';
import { type Admission, type Handling, isBarrier, queueKeyOf } from './admission/index.ts';
import type { DeadLetterBox } from './dead-letter-box.ts';
import { refusalOf, wholeRefusal } from './decode/refusals.ts';
import type { Handler, Handlers, Kept } from './handlers/index.ts';
import { type IngestResult, ONE_REFUSED } from './ingest-result.ts';
import type { Receipt } from './receipt-times.ts';
import type { RefusalNotices } from './refusal-notices.ts';
import type { Topics } from './topics.ts';

/**
 * The QoS is 0. It does nothing while no broker is connected. `waited`: ms since the commit of the oldest value, only
 * at the embedded broker.
 */
export type Send = (topic: string, payload: Buffer, retain?: boolean, waited?: number) => void;

/** `unclear`: the user property `replace` is neither `true` nor `false`, or occurs twice */
export type Replacement = boolean | 'unclear';

export interface Message {
  topic: string;
  /** as `Topics.contract` reads it; null: the contract does not have the topic */
  route: Topic | null;
  /** a payload from `PayloadMemory`, because the byte budget counts all memory that a payload keeps alive */
  payload: Buffer;
  /** content type of MQTT 5 */
  contentType?: string;
  /** a copy that the broker retained does not show that the device is active now */
  retained: boolean;
  /** epoch ms */
  receivedAt: number;
  /** the DUP flag: an earlier delivery may have been handled */
  dup?: boolean;
  /** the user property `replace` of MQTT 5 */
  replaces?: Replacement;
  /** a redelivery has the same receipt */
  receipt: Receipt;
  /** Receives the refused elements before the message is settled, if the protocol of the source can report a reason. */
  onRefused?: (refused: Refusals) => void;
  /** aborts when the sender disconnects; a message that has begun is finished */
  signal?: AbortSignal;
  /** missing: the sender may send for every device that a handler finds. Topics of the contract are checked earlier. */
  permits?: (device: string, topic: string) => boolean;
}

/**
 * `live`: for the first time, so it shows that the device is online. `repeated`: with the DUP flag, so the device may
 * have sent it in an earlier session. `retained`: a copy that the broker kept. `replayed`: a dead letter.
 * `contradictory`: it contradicts later messages, so it does not change the state of the device.
 */
export interface Arrival {
  /** first receipt, epoch ms */
  receivedAt: number;
  as: 'live' | 'repeated' | 'retained' | 'replayed' | 'contradictory';
  /** Start of the handling by `performance.now()`. It shows which of two messages came first; missing in a replay. */
  began?: number;
}

export const arrivalOf = ({
  receivedAt,
  retained,
  dup,
}: Pick<Message, 'receivedAt' | 'retained' | 'dup'>): Arrival & { began: number } => ({
  receivedAt,
  as: retained ? 'retained' : dup ? 'repeated' : 'live',
  began: performance.now(),
});

/**
 * The copy is for a dead letter or a later attempt. Its `receivedAt` is the instant from which its times count, so its
 * values get the same instants as at this receipt.
 */
export const toKept = <M extends Pick<Message, 'receivedAt' | 'receipt'>>(message: M): M => ({
  ...message,
  receivedAt: message.receipt.from ?? message.receivedAt,
});

/** Returns true, and reports the reason, if the sender may not send for the device that a handler finds. */
export function refuseForbidden({ permits, topic, onRefused }: Message, device: string): boolean {
  if (permits?.(device, topic) !== false) return false;
  onRefused?.([wholeRefusal('forbidden', 'The account may not send for this device.')]);
  return true;
}

/**
 * `accepted`: the good measurements are committed, and the bad ones are in a dead letter. `refused`: no part of the
 * message is stored. `forbidden`: the sender may not send for the device that a handler finds. `unknown_topic`: neither
 * the contract nor a feature has the topic. Messages of the last two are dropped.
 */
export type Outcome = 'accepted' | 'refused' | 'forbidden' | 'unknown_topic';

export type HandleMessage = (message: Message) => Promise<Outcome>;

/** An identity takes about 300 bytes. */
const MAX_IDENTITIES = 100_000;

/** `handle` or `replay` of a handler. `identity` is null if the handler finds the device itself. */
type Step<M, T> = (handler: Handler, message: M, route: Topic, identity: Identity | null) => Promise<T>;

const HANDLE: Step<Message, Outcome> = (handler, message, route, identity) =>
  handler.handle(message, route, identity);

const REPLAY: Step<Kept, IngestResult> = (handler, kept, route, identity) =>
  handler.replay(kept, route, identity);

/**
 * The path of a message from its source to its outcome:
 *
 *     admit -> route -> handle -> outcome
 *
 * `admission/` waits for room in the byte budget and for the right clock. Then the topic decides which handler gets the message. The
 * handler (`handlers/`) starts after earlier births and statuses of the device. The steps of a measurement are:
 *
 *     receive -> limit -> decode -> validate -> resolve -> write -> publish -> acknowledge
 *
 * The source receives and acknowledges, `admission/` limits, and the handler of measurements does the other steps. Replays take the same
 * path. HTTP requests enter it through `submission.ts`.
 *
 * Every message passes here, so each layer costs CPU. Three measures saved an eighth of ingest's CPU at one sample a message: functions
 * are async only if they await, known sensors are found synchronously, and a single promise is awaited without `Promise.all`. An async
 * function costs each message half a kilobyte: a promise, the state of the function, and two functions for each `await`. So no function
 * between `admit` and the rows of the store is async. A message that waits for more than its writes takes another path.
 */
export class IngestPipeline {
  #deps;
  #logger;
  #metrics;
  #maxMessageBytes;
  /** of the topics that this process reads, by kind; the others are only replayed */
  #live;
  #ofBrokers: Handling<Message, Outcome> = {
    handle: (message) => this.#handle(message),
    refuse: (message, error) => this.#refuse(message, error),
    end: (message, outcome, began) => this.#count(message, outcome, began),
  };
  /** An identity never changes. Computing it takes 4 µs (a SHA-1 with its buffers), a tenth of ingest's CPU for a message of one sample. */
  #identities: LRUCache<string, Identity> = new LRUCache({ max: MAX_IDENTITIES });

  constructor(
    {
      config,
      logger,
      metrics,
    }: {
      config: Config;
      logger: Logger;
      metrics: Metrics;
    },
    deps: {
      admission: Admission;
      handlers: Handlers;
      deadLetters: DeadLetterBox;
      notices: RefusalNotices;
      topics: Topics;
      retry: Retry;
      processStats: ProcessStats;
    },
  ) {
    this.#deps = deps;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#maxMessageBytes = config.ingest.maxMessageBytes;
    this.#live = new Map(deps.handlers);
    for (const { kind, isLive = true } of deps.topics.readers) if (!isLive) this.#live.delete(kind);
  }

  /**
   * When the promise resolves, every measurement is committed or in a dead letter, and the broker acknowledges. It
   * rejects if the process ends, or if the sender disconnects before the message begins. Then the broker must not
   * acknowledge.
   */
  handleMessage: HandleMessage = (message) => {
    const { admission } = this.#deps;
    const began = performance.now();
    admission.progress.begin(message, began);
    return admission.admit(message, this.#ofBrokers, began);
  };

  /**
   * Stores the refused elements of an earlier message. A second replay writes the same rows. `route`: of `routeOf`
   * @throws with the code that refuses the whole message
   */
  replay(kept: Omit<Kept, 'now'>, route: Topic, now: number): Promise<IngestResult> {
    const handler = this.#deps.handlers.get(route.kind) as Handler;
    return this.#deps.admission.admit(
      { payload: kept.payload, receivedAt: now },
      { handle: async ({ receivedAt }) => this.#route({ ...kept, now: receivedAt }, route, handler, REPLAY) },
    );
  }

  /** null: neither the contract nor a feature has the topic */
  routeOf = (topic: string): Topic | null => {
    const route = this.#deps.topics.contract.parse(topic) ?? this.#deps.topics.match(topic);
    return route && this.#deps.handlers.has(route.kind) ? route : null;
  };

  /** Name or id of a device, as in its topic. null: it is not valid. */
  identify = (name: string): Identity | null => {
    const known = this.#identities.get(name);
    if (known) return known;
    // The name is copied, because it may be a slice of a request, and a slice keeps the whole string in memory.
    const own = Buffer.from(name).toString();
    const identity = identifyDevice(own);
    if (identity) this.#identities.set(own, identity);
    return identity;
  };

  #handle(message: Message): Promise<Outcome> {
    const route = this.#findRoute(message);
    const handler = route === null ? undefined : this.#live.get(route.kind);
    if (route && handler) return this.#route(message, route, handler, HANDLE);
    this.#deps.notices.unknownTopic(message.topic);
    this.#deps.topics.noteUnmatched(message);
    return Promise.resolve('unknown_topic');
  }

  #findRoute({ route, topic }: Message): Topic | null {
    return route ?? this.#deps.topics.match(topic);
  }

  /** Waits for earlier births and statuses of the device. @throws `bad_id`, `too_large`, and the errors of the handler */
  #route<M extends Pick<Message, 'payload'>, T>(
    message: M,
    route: Topic,
    handler: Handler,
    step: Step<M, T>,
  ): Promise<T> {
    const identity = handler.findsDevice ? null : this.#identityOf(route);
    if (message.payload.length > this.#maxMessageBytes) {
      const rule = `must not be larger than MAX_MESSAGE_BYTES, ${this.#maxMessageBytes} bytes`;
      throw new MillraceError('too_large', rule);
    }
    // The payload may name the device, so the handler queues the message itself.
    if (!identity) return step(handler, message, route, null);
    return this.#deps.admission.queue.run(queueKeyOf(route, identity), isBarrier(route), () =>
      step(handler, message, route, identity),
    );
  }

  #identityOf({ device }: Topic): Identity {
    const identity = this.identify(device);
    if (identity) return identity;
    throw new MillraceError('bad_id', `the device in its topic ${brokenNameRule(device)}`);
  }

  /** @throws the error if the message must stay unacknowledged */
  async #refuse(message: Message, error: unknown): Promise<Outcome> {
    const refusal = this.#toRefusal(error, message);
    const route = this.#findRoute(message);
    const handler = route && this.#live.get(route.kind);
    if (!route || !handler) throw error;
    // The handler could not read the message, so it did not check the sender. Without this check, a sender without permission could
    // use up the dead letter quota of the topic's device.
    if (handler.findsDevice && route.device !== '' && refuseForbidden(message, route.device))
      return 'forbidden';
    handler.refused?.(route);
    await this.#deps.deadLetters.put(toKept(message), route.device, [refusal]);
    this.#deps.processStats.count(ONE_REFUSED);
    return 'refused';
  }

  /**
   * An unexpected error is a defect in Millrace. Without an acknowledgement the broker would deliver the message again,
   * and the same error would repeat without end. A dead letter keeps the message until the defect is fixed.
   * @throws the same error if the database is unavailable, or the process ends: the message must stay unacknowledged
   */
  #toRefusal(error: unknown, { topic }: Message): Refusal {
    if (error instanceof MillraceError && error.code !== 'unavailable') return refusalOf(error.code, error);
    if (error instanceof MillraceError || this.#deps.retry.isAborted) throw error;
    this.#logger.error(
      { err: error, topic },
      'an unexpected error: the message is kept as a dead letter; please report this',
    );
    return refusalOf('rejected', error);
  }

  /** An undefined outcome leaves the message unacknowledged. */
  #count(message: Message, outcome: Outcome | undefined, began: number) {
    const now = performance.now();
    const isSettled = outcome === 'accepted' || outcome === 'refused';
    this.#deps.admission.progress.end(message, isSettled, now);
    if (!isSettled) {
      this.#metrics.messages.inc({ result: outcome ?? 'unsettled' });
      return;
    }
    this.#metrics.settledMessages.add(1);
    this.#metrics.commitSeconds.observe((now - began) / 1000);
  }
}
