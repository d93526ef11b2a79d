/**
 * Admission to ingest. A message waits here until the byte budget has room, until the clock is right, and for earlier
 * messages of its device. Admission reads no payload and does not write to the database.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isBirth, isDeath } from '../../../schema/sparkplug-topics.js';
import { ByteBudget, keptBytes } from './byte-budget.js';

export { copyBytes, keptBytes, PayloadMemory } from './byte-budget.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Check } from '../../observability/readiness.js' */
/** @import { ClockGuard } from '../../store/clock-guard.js' */
/** @import { Message, Route } from '../pipeline.js' */

/** Limit of the bytes of unsettled messages. Above this limit further messages wait. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/**
 * The members of a message that admission uses.
 *
 * @typedef {Pick<Message, 'payload' | 'receivedAt' | 'signal'>} Admitted
 */

/**
 * Handles the messages of one source after their admission.
 *
 * @template {Admitted} M
 * @template T
 * @typedef {object} Handling
 * @property {(message: M) => Promise<T>} handle settles when everything in the message is committed or refused; it may also throw at once
 * @property {(message: M, error: unknown) => Promise<T>} [refuse] converts an error of `handle` to a result; missing: `admit` throws the error
 * @property {(message: M, result: T | undefined, began: number) => void} [end] called at the end of every message that was passed to
 *   `admit`. `result`: the result of `handle`; undefined: the message stays unacknowledged. `began`: arrival of the message by `performance.now()`
 */

/** The only way into ingest. Messages of all sources share one budget and one order for each device. */
export class Admission {
  #clockGuard;
  /** Bytes of unsettled messages. */
  budget = new ByteBudget(BUDGET_BYTES);
  /** The order of the messages of each device. */
  queue = new DeviceQueue();
  /** The unsettled messages of the brokers. */
  progress;

  /**
   * @param {object} deps
   * @param {ClockGuard} deps.clockGuard
   * @param {() => number} deps.answeredAt when the database last answered, in ms of `performance.now()`
   */
  constructor({ clockGuard, answeredAt }) {
    this.#clockGuard = clockGuard;
    this.progress = new Progress({ answeredAt });
  }

  /**
   * Handles a message when the byte budget has room for it. The clock is checked twice. With a clock that is wrong at the
   * arrival, ingest would refuse good measurements and give wrong times to measurements without a time. If the clock is
   * wrong after the commit, Millrace must not acknowledge.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message that arrived now
   * @param {Handling<M, T>} handling
   * @param {number} [began] arrival of the message by `performance.now()`; default: now
   * @returns {Promise<T>} settles when the message may be acknowledged
   * @throws {MillraceError} `unavailable`: the process ends, or the sender disconnected before the message began
   */
  admit(message, handling, began = performance.now()) {
    const isTimed = this.#clockGuard.isTrusted;
    const room = this.budget.enter(keptBytes(message.payload), message.signal);
    if (room === undefined && isTimed) return this.#handle(message, handling, began);
    return this.#handleLater(message, handling, { began, isTimed, room });
  }

  /**
   * Handles a message that need not wait. The function is not async, to save memory: see `pipeline.js`.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message that entered the budget
   * @param {Handling<M, T>} handling
   * @param {number} began by `performance.now()`
   * @returns {Promise<T>}
   */
  #handle(message, handling, began) {
    /** @type {Promise<T>} */
    let handled;
    try {
      handled = handling.handle(message);
    } catch (error) {
      handled = Promise.reject(error);
    }
    return handled.then(
      (result) => {
        if (!this.#clockGuard.isTrusted) return this.#settle(message, handling, began, async () => result);
        this.#leave(message, handling, began, result);
        return result;
      },
      (error) => this.#settle(message, handling, began, () => refuse(message, handling, error)),
    );
  }

  /**
   * Handles a message that waits for room in the byte budget, or for the right clock.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message
   * @param {Handling<M, T>} handling
   * @param {{ began: number, isTimed: boolean, room: Promise<void> | undefined }} arrival `began` by `performance.now()`; `isTimed`:
   *   the clock was right at the arrival; `room` settles when the message enters the budget
   * @returns {Promise<T>}
   */
  async #handleLater(message, handling, { began, isTimed, room }) {
    try {
      if (room !== undefined) await room;
    } catch (error) {
      handling.end?.(message, undefined, began);
      throw error;
    }
    return this.#settle(message, handling, began, () =>
      isTimed ? handleOrRefuse(message, handling) : this.#handleWithRightClock(message, handling, began),
    );
  }

  /**
   * Handles a message that arrived while the clock was wrong, as soon as the clock is right. The message gets
   * its time of receipt by the right clock.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message
   * @param {Handling<M, T>} handling
   * @param {number} began arrival of the message by `performance.now()`
   * @returns {Promise<T>}
   */
  async #handleWithRightClock(message, handling, began) {
    const time = this.#clockGuard.now();
    // A message that waits only for room begins at once when it enters the budget. An await of a number would
    // let it overtake this message.
    const now = typeof time === 'number' ? time : await time;
    /** @type {M} */
    const received = { ...message, receivedAt: now - Math.round(performance.now() - began) };
    return handleOrRefuse(received, handling);
  }

  /**
   * Settles a message that waits for more than its handler: for room in the budget, for its dead letter, or for the right clock.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message that entered the budget
   * @param {Handling<M, T>} handling
   * @param {number} began by `performance.now()`
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #settle(message, handling, began, work) {
    /** @type {T | undefined} */
    let result;
    try {
      /** @type {T} */
      const settled = await work();
      if (!this.#clockGuard.isTrusted) await this.#clockGuard.now();
      result = settled;
      return settled;
    } finally {
      this.#leave(message, handling, began, result);
    }
  }

  /**
   * Ends the handling of a message that entered the budget.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message
   * @param {Handling<M, T>} handling
   * @param {number} began by `performance.now()`
   * @param {T | undefined} result undefined: the message stays unacknowledged
   */
  #leave(message, handling, began, result) {
    try {
      this.budget.leave(keptBytes(message.payload));
    } finally {
      handling.end?.(message, result, began);
    }
  }
}

/**
 * @template {Admitted} M
 * @template T
 * @param {M} message
 * @param {Handling<M, T>} handling
 * @returns {Promise<T>}
 */
async function handleOrRefuse(message, handling) {
  try {
    return await handling.handle(message);
  } catch (error) {
    return refuse(message, handling, error);
  }
}

/**
 * @template {Admitted} M
 * @template T
 * @param {M} message
 * @param {Handling<M, T>} handling
 * @param {unknown} error error of the handler
 * @returns {Promise<T>}
 * @throws the error, if the source of the message handles errors itself
 */
function refuse(message, handling, error) {
  if (!handling.refuse) throw error;
  return handling.refuse(message, error);
}

/**
 * Keeps the order of the messages of each device. Messages begin in order of arrival and run concurrently.
 * Some messages are barriers, for which later messages wait. For example, a birth must be committed before
 * the first measurement of a new device, which needs the registration. A status must be committed before the
 * next measurement, which shows that the device is online.
 */
export class DeviceQueue {
  /** The newest barrier of each key. @type {Map<string, Promise<unknown>>} */
  #barriers = new Map();

  /**
   * @template T
   * @param {string} key
   * @param {boolean} isBarrier
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  run(key, isBarrier, work) {
    const before = this.#barriers.get(key);
    // A failed barrier does not stop later messages. The failure is reported by the message of the barrier.
    const result = before ? before.then(work, work) : work();
    if (isBarrier) {
      this.#barriers.set(key, result);
      const leave = () => {
        if (this.#barriers.get(key) === result) this.#barriers.delete(key);
      };
      result.then(leave, leave);
    }
    return result;
  }
}

/**
 * Returns the key of a device's queue. A Sparkplug edge node and its devices share one sequence of messages, so they share a queue.
 *
 * @param {Route} route
 * @param {Identity} identity of the device
 * @returns {string}
 */
export const queueKeyOf = ({ sparkplug }, identity) => sparkplug?.node ?? identity.id;

/** @param {Route} route @returns {boolean} whether later messages of the device wait for a message of this route */
export const isBarrier = ({ kind, sparkplug }) =>
  kind === 'birth' ||
  kind === 'status' ||
  (sparkplug !== undefined && (isBirth(sparkplug.type) || isDeath(sparkplug.type)));

/** `untilSettled` checks for unsettled messages this often, in ms. */
const POLL_MS = 20;

/**
 * Tracks the unsettled messages of the process. The health check reports the age of the oldest unsettled message. An orderly stop waits
 * until all messages are settled.
 */
export class Progress {
  #answeredAt;
  #clock;
  /** Arrival of each unsettled message, the oldest first. @type {Map<object, number>} */
  #unsettled = new Map();
  #settledAt = Number.NEGATIVE_INFINITY;

  /**
   * @param {object} deps
   * @param {() => number} deps.answeredAt when the database last answered, in ms of the same clock
   * @param {() => number} [deps.clock] ms of a monotonic clock
   */
  constructor({ answeredAt, clock = () => performance.now() }) {
    this.#answeredAt = answeredAt;
    this.#clock = clock;
  }

  /** Counts a message that arrived as unsettled. @param {object} message @param {number} [now] ms of `clock` */
  begin(message, now = this.#clock()) {
    this.#unsettled.set(message, now);
  }

  /**
   * Ends the tracking of a message.
   *
   * @param {object} message
   * @param {boolean} isSettled false: the message stays unacknowledged, or its topic is unknown, so it is no progress
   * @param {number} [now] ms of `clock`
   */
  end(message, isSettled, now = this.#clock()) {
    this.#unsettled.delete(message);
    if (isSettled) this.#settledAt = now;
  }

  /** Number of unsettled messages. */
  get unsettled() {
    return this.#unsettled.size;
  }

  /** Age of the oldest unsettled message in ms; 0: no message waits. */
  get oldestMs() {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined ? 0 : this.#clock() - oldest;
  }

  /**
   * The time without progress. Some messages need no database, for example empty messages. So progress needs both
   * a settled message and an answer of the database.
   *
   * @returns {number} ms since the earlier of the last settled message and the last answer of the database, counted from the
   *   arrival of the oldest unsettled message at most; 0: no message waits
   */
  get standstillMs() {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined
      ? 0
      : this.#clock() - Math.max(oldest, Math.min(this.#settledAt, this.#answeredAt()));
  }

  /**
   * Waits until no message is unsettled.
   *
   * @param {object} bounds
   * @param {number} bounds.withinMs
   * @param {() => boolean} [bounds.isHopeless] ends the wait early
   * @returns {Promise<void>} settles when every message is settled, or at one of the bounds
   */
  async untilSettled({ withinMs, isHopeless = () => false }) {
    const deadline = this.#clock() + withinMs;
    while (this.#unsettled.size > 0 && this.#clock() < deadline && !isHopeless()) await sleep(POLL_MS);
  }

  /**
   * Returns the readiness check of ingest.
   *
   * @param {number} maxWaitMs the check fails when a message waits for longer
   * @returns {Check}
   */
  check(maxWaitMs) {
    const waited = Math.round(this.oldestMs);
    return {
      ok: waited <= maxWaitMs,
      message:
        this.#unsettled.size === 0
          ? 'none wait'
          : `${this.#unsettled.size} wait, the oldest for ${waited} ms`,
    };
  }
}
