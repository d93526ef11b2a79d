/**
 * Admission to ingest. A message waits here until the byte budget has room, until the clock is right, and for earlier
 * messages of its device. Admission reads no payload and does not write to the database.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity } from '../../../schema/ids.ts';
import { isBirth, isDeath } from '../../../schema/sparkplug-topics.ts';
import type { Check } from '../../observability/readiness.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import type { Message, Route } from '../pipeline.ts';
import { ByteBudget, keptBytes } from './byte-budget.ts';

export { copyBytes, keptBytes, PayloadMemory } from './byte-budget.ts';

/** Limit of the bytes of unsettled messages. Above this limit further messages wait. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/** The members of a message that admission uses. */
type Admitted = Pick<Message, 'payload' | 'receivedAt' | 'signal'>;

/** Handles the messages of one source after their admission. */
export interface Handling<M extends Admitted, T> {
  /** settles when everything in the message is committed or refused; it may also throw at once */
  handle: (message: M) => Promise<T>;
  /** converts an error of `handle` to a result; missing: `admit` throws the error */
  refuse?: (message: M, error: unknown) => Promise<T>;
  /**
   * called at the end of every message that was passed to `admit`. `result`: the result of `handle`;
   * undefined: the message stays unacknowledged. `began`: arrival of the message by `performance.now()`
   */
  end?: (message: M, result: T | undefined, began: number) => void;
}

/** The only way into ingest. Messages of all sources share one budget and one order for each device. */
export class Admission {
  #clockGuard;
  /** Bytes of unsettled messages. */
  budget = new ByteBudget(BUDGET_BYTES);
  /** The order of the messages of each device. */
  queue = new DeviceQueue();
  /** The unsettled messages of the brokers. */
  progress;

  constructor({
    clockGuard,
    answeredAt,
  }: {
    clockGuard: ClockGuard;
    /** when the database last answered, in ms of `performance.now()` */
    answeredAt: () => number;
  }) {
    this.#clockGuard = clockGuard;
    this.progress = new Progress({ answeredAt });
  }

  /**
   * Handles a message when the byte budget has room for it. The clock is checked twice. With a clock that is wrong at the
   * arrival, ingest would refuse good measurements and give wrong times to measurements without a time. If the clock is
   * wrong after the commit, Millrace must not acknowledge.
   * @param message that arrived now
   * @param began arrival of the message by `performance.now()`; default: now
   * @returns settles when the message may be acknowledged
   * @throws {MillraceError} `unavailable`: the process ends, or the sender disconnected before the message began
   */
  admit<M extends Admitted, T>(
    message: M,
    handling: Handling<M, T>,
    began: number = performance.now(),
  ): Promise<T> {
    const isTimed = this.#clockGuard.isTrusted;
    const room = this.budget.enter(keptBytes(message.payload), message.signal);
    if (room === undefined && isTimed) return this.#handle(message, handling, began);
    return this.#handleLater(message, handling, { began, isTimed, room });
  }

  /**
   * Handles a message that need not wait. The function is not async, to save memory: see `pipeline.ts`.
   * @param message that entered the budget
   * @param began by `performance.now()`
   */
  #handle<M extends Admitted, T>(message: M, handling: Handling<M, T>, began: number): Promise<T> {
    let handled: Promise<T>;
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
   * @param arrival `began` by `performance.now()`; `isTimed`: the clock was right at the arrival; `room` settles when the message
   * enters the budget
   */
  async #handleLater<M extends Admitted, T>(
    message: M,
    handling: Handling<M, T>,
    { began, isTimed, room }: { began: number; isTimed: boolean; room: Promise<void> | undefined },
  ): Promise<T> {
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
   * @param began arrival of the message by `performance.now()`
   */
  async #handleWithRightClock<M extends Admitted, T>(
    message: M,
    handling: Handling<M, T>,
    began: number,
  ): Promise<T> {
    const time = this.#clockGuard.now();
    // A message that waits only for room begins at once when it enters the budget. An await of a number would
    // let it overtake this message.
    const now = typeof time === 'number' ? time : await time;
    const received: M = { ...message, receivedAt: now - Math.round(performance.now() - began) };
    return handleOrRefuse(received, handling);
  }

  /**
   * Settles a message that waits for more than its handler: for room in the budget, for its dead letter, or for the right clock.
   * @param message that entered the budget
   * @param began by `performance.now()`
   */
  async #settle<M extends Admitted, T>(
    message: M,
    handling: Handling<M, T>,
    began: number,
    work: () => Promise<T>,
  ): Promise<T> {
    let result: T | undefined;
    try {
      const settled: T = await work();
      if (!this.#clockGuard.isTrusted) await this.#clockGuard.now();
      result = settled;
      return settled;
    } finally {
      this.#leave(message, handling, began, result);
    }
  }

  /**
   * Ends the handling of a message that entered the budget.
   * @param began by `performance.now()`
   * @param result undefined: the message stays unacknowledged
   */
  #leave<M extends Admitted, T>(message: M, handling: Handling<M, T>, began: number, result: T | undefined) {
    try {
      this.budget.leave(keptBytes(message.payload));
    } finally {
      handling.end?.(message, result, began);
    }
  }
}

async function handleOrRefuse<M extends Admitted, T>(message: M, handling: Handling<M, T>): Promise<T> {
  try {
    return await handling.handle(message);
  } catch (error) {
    return refuse(message, handling, error);
  }
}

/** @param error error of the handler @throws the error, if the source of the message handles errors itself */
function refuse<M extends Admitted, T>(message: M, handling: Handling<M, T>, error: unknown): Promise<T> {
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
  /** The newest barrier of each key. */
  #barriers: Map<string, Promise<unknown>> = new Map();

  run<T>(key: string, isBarrier: boolean, work: () => Promise<T>): Promise<T> {
    const before = this.#barriers.get(key);
    // A failed barrier does not stop later messages. The failure is reported by the message of the barrier.
    const result = before === undefined ? work() : before.then(work, work);
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
 * @param identity of the device
 */
export const queueKeyOf = ({ sparkplug }: Route, identity: Identity): string =>
  sparkplug?.node ?? identity.id;

/** @returns whether later messages of the device wait for a message of this route */
export const isBarrier = ({ kind, sparkplug }: Route): boolean =>
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
  /** Arrival of each unsettled message, the oldest first. */
  #unsettled: Map<object, number> = new Map();
  #settledAt = Number.NEGATIVE_INFINITY;

  constructor({
    answeredAt,
    clock = () => performance.now(),
  }: {
    /** when the database last answered, in ms of the same clock */
    answeredAt: () => number;
    /** ms of a monotonic clock */
    clock?: () => number;
  }) {
    this.#answeredAt = answeredAt;
    this.#clock = clock;
  }

  /** Counts a message that arrived as unsettled. @param now ms of `clock` */
  begin(message: object, now: number = this.#clock()) {
    this.#unsettled.set(message, now);
  }

  /**
   * Ends the tracking of a message.
   * @param isSettled false: the message stays unacknowledged, or its topic is unknown, so it is no progress
   * @param now ms of `clock`
   */
  end(message: object, isSettled: boolean, now: number = this.#clock()) {
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
   * The time without progress. Some messages need no database, for example empty messages. So progress needs both a settled
   * message and an answer of the database.
   * @returns ms since the earlier of the last settled message and the last answer of the database, counted from the arrival
   * of the oldest unsettled message at most; 0: no message waits
   */
  get standstillMs(): number {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined
      ? 0
      : this.#clock() - Math.max(oldest, Math.min(this.#settledAt, this.#answeredAt()));
  }

  /**
   * Waits until no message is unsettled.
   * @returns settles when every message is settled, or at one of the bounds
   */
  async untilSettled({
    withinMs,
    isHopeless = () => false,
  }: {
    withinMs: number;
    /** ends the wait early */
    isHopeless?: () => boolean;
  }): Promise<void> {
    const deadline = this.#clock() + withinMs;
    while (this.#unsettled.size > 0 && this.#clock() < deadline && !isHopeless()) await sleep(POLL_MS);
  }

  /**
   * Returns the readiness check of ingest.
   * @param maxWaitMs the check fails when a message waits for longer
   */
  check(maxWaitMs: number): Check {
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
