import { LRUCache } from 'lru-cache';
import { MillraceError } from '../../common/errors.js';
import { brokenNameRule, identifyDevice } from '../../schema/ids.js';
import { parseTopic } from '../../schema/topics.js';
import { isBarrier, queueKeyOf } from './admission/index.js';
import { refusalOf, wholeRefusal } from './decode/refusals.js';
import { ONE_REFUSED } from './ingest-result.js';

/** @import { Logger } from 'pino' */
/** @import { Refusal } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Topic } from '../../schema/topics.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { ProcessStats } from '../observability/process-stats.js' */
/** @import { Refusals } from '../store/dead-letters/writes.js' */
/** @import { Retry } from '../store/sending/retry.js' */
/** @import { Admission, Handling } from './admission/index.js' */
/** @import { DeadLetterBox } from './dead-letter-box.js' */
/** @import { Handler, Handlers, Kept } from './handlers/index.js' */
/** @import { IngestResult } from './ingest-result.js' */
/** @import { MappedTopic, Mappings } from './mappings/index.js' */
/** @import { Receipt } from './receipt-times.js' */
/** @import { RefusalNotices } from './refusal-notices.js' */
/** @import { UnmatchedTopics } from './unmatched-topics.js' */

/**
 * Publishes a message to devices with QoS 0. Does nothing while no broker is connected.
 *
 * @callback Send
 * @param {string} topic
 * @param {Buffer} payload
 * @param {boolean} [retain] default: false
 * @param {number} [waited] ms since the commit of the oldest value in the payload; only the embedded broker sends it
 */

/** A topic that ingest handles, because the contract or a mapping has it. @typedef {Topic | MappedTopic} Route */

/**
 * A message from a broker.
 *
 * @typedef {object} Message
 * @property {string} topic
 * @property {Route | null} route the topic, as `parseTopic` reads it; null: the contract does not have the topic
 * @property {Buffer} payload payload from `PayloadMemory`, because the byte budget counts all memory that a payload
 *   keeps alive
 * @property {string} [contentType] content type from MQTT 5
 * @property {boolean} retained whether this is a copy that the broker retained, which does not show that the device is active now
 * @property {number} receivedAt epoch ms
 * @property {boolean} [dup] whether the DUP flag is set: an earlier delivery may have been handled
 * @property {Receipt} receipt receipt of this message. A redelivery of the message has the same receipt
 * @property {(refused: Refusals) => void} [onRefused] receives the refused elements before the message is settled. A
 *   source passes it if its protocol can report a reason
 * @property {AbortSignal} [signal] aborts when the sender disconnects; a message that has begun is finished
 * @property {(device: string, topic: string) => boolean} [permits] whether the sender may send for a device
 *   that a mapping names; missing: the sender may send for every device. Topics of the contract are checked earlier
 */

/**
 * How a message arrived. `live`: for the first time, so it shows that the device is online. `repeated`: with the DUP flag, so the device may
 * have sent it in an earlier session. `retained`: a copy that the broker kept. `replayed`: an operator replays a dead letter.
 * `contradictory`: it contradicts later messages, so it does not change the state of the device.
 *
 * @typedef {object} Arrival
 * @property {number} receivedAt epoch ms of the first receipt
 * @property {'live' | 'repeated' | 'retained' | 'replayed' | 'contradictory'} as
 * @property {number} [began] when this process began to handle the message, by `performance.now()`. It shows which of two messages
 *   came first; missing in a replay
 */

/** @param {Pick<Message, 'receivedAt' | 'retained' | 'dup'>} message @returns {Arrival & { began: number }} */
export const arrivalOf = ({ receivedAt, retained, dup }) => ({
  receivedAt,
  as: retained ? 'retained' : dup ? 'repeated' : 'live',
  began: performance.now(),
});

/**
 * Converts a message to the form for a dead letter or a later attempt. When it is stored later, its values get the
 * same instants as at this receipt.
 *
 * @template {Pick<Message, 'receivedAt' | 'receipt'>} M
 * @param {M} message
 * @returns {M} a copy whose `receivedAt` is the instant from which the times of its values count
 */
export const toKept = (message) => ({ ...message, receivedAt: message.receipt.from ?? message.receivedAt });

/**
 * Refuses a message if its sender may not send for the device that a mapping finds. The sender gets the reason.
 *
 * @param {Message} message
 * @param {string} device name or id of the device
 * @returns {boolean} whether the message is refused
 */
export function refuseForbidden({ permits, topic, onRefused }, device) {
  if (permits?.(device, topic) !== false) return false;
  onRefused?.([wholeRefusal('forbidden', 'The account may not send for this device.')]);
  return true;
}

/**
 * The outcome of a message. `accepted`: its good measurements are committed, and its bad measurements are in a dead
 * letter. `refused`: the message is in a dead letter, and no part of it is stored. `forbidden`: the sender may not
 * send for the device that a mapping finds, so the message is dropped. `unknown_topic`: neither the contract nor a
 * mapping has the topic, so the message is dropped.
 *
 * @typedef {'accepted' | 'refused' | 'forbidden' | 'unknown_topic'} Outcome
 */

/** @typedef {(message: Message) => Promise<Outcome>} HandleMessage */

/** Limit of cached device identities, at about 300 bytes each. The least recently used identity is evicted. */
const MAX_IDENTITIES = 100_000;

/**
 * Calls one of the two functions of a handler: `handle` or `replay`. `identity`: null if the payload names the device.
 *
 * @template M
 * @template T
 * @typedef {(handler: Handler<any, any>, message: M, route: Route, identity: Identity | null) => Promise<T>} Step
 */

/** @type {Step<Message, Outcome>} */
const HANDLE = (handler, message, route, identity) => handler.handle(message, route, identity);

/** @type {Step<Kept, IngestResult>} */
const REPLAY = (handler, kept, route, identity) => handler.replay(kept, route, identity);

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
 * path. HTTP requests enter it through `submission.js`.
 *
 * Every message passes here, so each layer costs CPU. Three measures saved an eighth of ingest's CPU at one
 * sample a message: functions are async only if they await, known sensors are found synchronously, and a single
 * promise is awaited without `Promise.all`. An async function costs each message half a kilobyte: a promise, the
 * state of the function, and two functions for each `await`. So no function between `admit` and the rows of the
 * store is async. A message that waits for more than its writes takes another path.
 */
export class IngestPipeline {
  #deps;
  #logger;
  #metrics;
  #maxMessageBytes;
  #takesSparkplug;
  /** How admission handles messages from brokers. @type {Handling<Message, Outcome>} */
  #ofBrokers = {
    handle: (message) => this.#handle(message),
    refuse: (message, error) => this.#refuse(message, error),
    end: (message, outcome, began) => this.#count(message, outcome, began),
  };
  /**
   * Caches the identity of each device name. An identity never changes. Computing it takes 4 µs (a SHA-1 with its buffers), a tenth of
   * ingest's CPU for a message of one sample.
   *
   * @type {LRUCache<string, Identity>}
   */
  #identities = new LRUCache({ max: MAX_IDENTITIES });

  /**
   * @param {object} context
   * @param {Config} context.config
   * @param {Logger} context.logger
   * @param {Metrics} context.metrics
   * @param {object} deps
   * @param {Admission} deps.admission
   * @param {Handlers} deps.handlers
   * @param {Mappings} deps.mappings
   * @param {DeadLetterBox} deps.deadLetters
   * @param {RefusalNotices} deps.notices
   * @param {UnmatchedTopics} deps.unmatchedTopics
   * @param {Retry} deps.retry
   * @param {ProcessStats} deps.processStats
   */
  constructor({ config, logger, metrics }, deps) {
    this.#deps = deps;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#maxMessageBytes = config.ingest.maxMessageBytes;
    this.#takesSparkplug = config.sparkplug;
  }

  /**
   * Handles a message of any broker. The broker acknowledges the message when the promise resolves: then every measurement in it is
   * committed or in a dead letter. The promise rejects if the process ends, or if the sender disconnects before the message begins. Then
   * the broker must not acknowledge.
   *
   * @type {HandleMessage}
   */
  handleMessage = (message) => {
    const { admission } = this.#deps;
    const began = performance.now();
    admission.progress.begin(message, began);
    return admission.admit(message, this.#ofBrokers, began);
  };

  /**
   * Stores the refused elements of an earlier message. A second replay writes the same rows.
   *
   * @param {Omit<Kept, 'now'>} kept
   * @param {Route} route
   * @param {number} now epoch ms
   * @returns {Promise<IngestResult>} settles when the good elements are committed
   * @throws {MillraceError} with the code that refuses the whole message
   */
  replay(kept, route, now) {
    return this.#deps.admission.admit(
      { payload: kept.payload, receivedAt: now },
      { handle: async ({ receivedAt }) => this.#route({ ...kept, now: receivedAt }, route, REPLAY) },
    );
  }

  /** @param {string} topic @returns {Route | null} null: neither the contract nor a mapping has the topic */
  routeOf = (topic) => parseTopic(topic) ?? this.#deps.mappings.match(topic);

  /** @param {string} name name or id of a device, as in its topic @returns {Identity | null} null: the name is not valid */
  identify = (name) => {
    const known = this.#identities.get(name);
    if (known) return known;
    // The name is copied, because a name from line protocol is a slice of the request, and a slice keeps the whole
    // string in memory.
    const own = Buffer.from(name).toString();
    const identity = identifyDevice(own);
    if (identity) this.#identities.set(own, identity);
    return identity;
  };

  /** @param {Message} message @returns {Promise<Outcome>} @throws {MillraceError} the errors of `#route` */
  #handle(message) {
    const route = this.#findRoute(message);
    if (route) return this.#route(message, route, HANDLE);
    this.#deps.notices.unknownTopic(message.topic);
    this.#deps.unmatchedTopics.note(message);
    return Promise.resolve('unknown_topic');
  }

  /** @param {Message} message @returns {Route | null} null: this process does not read the topic of the message */
  #findRoute(message) {
    const route = message.route ?? this.#deps.mappings.match(message.topic);
    return route?.kind === 'sparkplug' && !this.#takesSparkplug ? null : route;
  }

  /**
   * Passes a message to the handler of its topic, after earlier births and statuses of its device.
   *
   * @template {Pick<Message, 'payload'>} M
   * @template T
   * @param {M} message
   * @param {Route} route
   * @param {Step<M, T>} step
   * @returns {Promise<T>}
   * @throws {MillraceError} `bad_id`, `too_large`, and the errors of the handler
   */
  #route(message, route, step) {
    const handler = this.#deps.handlers[route.kind];
    const identity = route.kind === 'mapped' ? null : this.#identityOf(route);
    if (message.payload.length > this.#maxMessageBytes) {
      const rule = `must not be larger than MAX_MESSAGE_BYTES, ${this.#maxMessageBytes} bytes`;
      throw new MillraceError('too_large', rule);
    }
    // The payload may name the device, so the handler of mapped topics queues the message itself.
    if (!identity) return step(handler, message, route, null);
    return this.#deps.admission.queue.run(queueKeyOf(route, identity), isBarrier(route), () =>
      step(handler, message, route, identity),
    );
  }

  /** @param {Topic} topic @returns {Identity} @throws {MillraceError} `bad_id` */
  #identityOf({ device }) {
    const identity = this.identify(device);
    if (identity) return identity;
    throw new MillraceError('bad_id', `the device in its topic ${brokenNameRule(device)}`);
  }

  /**
   * Makes the whole message a dead letter.
   *
   * @param {Message} message
   * @param {unknown} error error of the handler
   * @returns {Promise<Outcome>}
   * @throws the same error if the message must stay unacknowledged
   */
  async #refuse(message, error) {
    const refusal = this.#toRefusal(error, message);
    const route = this.#findRoute(message);
    if (!route) throw error;
    // The handler could not read the message, so it did not check the sender. Without this check, a sender without permission could
    // use up the dead letter quota of the topic's device.
    if (route.kind === 'mapped' && route.device !== '' && refuseForbidden(message, route.device))
      return 'forbidden';
    if (route.kind === 'sparkplug') this.#deps.handlers.sparkplug.refused(route);
    await this.#deps.deadLetters.put(toKept(message), route.device, [refusal]);
    this.#deps.processStats.count(ONE_REFUSED);
    return 'refused';
  }

  /**
   * Makes a refusal of an unexpected error, which is a defect in Millrace. Without an acknowledgement the
   * broker would deliver the message again, and the same error would repeat without end. A dead letter keeps the
   * message until the defect is fixed.
   *
   * @param {unknown} error
   * @param {Message} message
   * @returns {Refusal}
   * @throws the same error if the message must stay unacknowledged: the database is unavailable, or the process ends
   */
  #toRefusal(error, { topic }) {
    if (error instanceof MillraceError && error.code !== 'unavailable') return refusalOf(error.code, error);
    if (error instanceof MillraceError || this.#deps.retry.isAborted) throw error;
    this.#logger.error(
      { err: error, topic },
      'an unexpected error: the message is kept as a dead letter; please report this',
    );
    return refusalOf('rejected', error);
  }

  /**
   * Counts a message whose handling has ended.
   *
   * @param {Message} message
   * @param {Outcome | undefined} outcome undefined: the message stays unacknowledged
   * @param {number} began arrival of the message by `performance.now()`
   */
  #count(message, outcome, began) {
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
