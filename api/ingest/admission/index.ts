/**
 * A message waits here until the byte budget has room, until the clock is right, and for earlier messages of its
 * device. Admission reads no payload and does not write to the database.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity } from '../../../schema/ids.ts';
import type { Topic } from '../../../schema/topics.ts';
import type { Check } from '../../observability/readiness.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import type { Message } from '../pipeline.ts';
import { ByteBudget, keptBytes } from './byte-budget.ts';

export { copyBytes, keptBytes, PayloadMemory } from './byte-budget.ts';

const BUDGET_BYTES = 64 * 1024 * 1024;

type Admitted = Pick<Message, 'payload' | 'receivedAt' | 'signal'>;

export interface Handling<M extends Admitted, T> {
  /** Settles when everything in the message is committed or refused. It may also throw at once. */
  handle: (message: M) => Promise<T>;
  /** missing: `admit` throws the error */
  refuse?: (message: M, error: unknown) => Promise<T>;
  /** Called at the end of every admitted message. undefined: it stays unacknowledged. `began`: arrival by `performance.now()`. */
  end?: (message: M, result: T | undefined, began: number) => void;
}

/** The only way into ingest. Messages of all sources share one budget and one order for each device. */
export class Admission {
  #clockGuard;
  budget = new ByteBudget(BUDGET_BYTES);
  queue = new DeviceQueue();
  progress;

  constructor({
    clockGuard,
    answeredAt,
  }: {
    clockGuard: ClockGuard;
    /** ms of `performance.now()` at the last answer of the database */
    answeredAt: () => number;
  }) {
    this.#clockGuard = clockGuard;
    this.progress = new Progress({ answeredAt });
  }

  /**
   * The clock is checked twice. With a clock that is wrong at the arrival, ingest would refuse good measurements and give
   * wrong times to measurements without a time. If the clock is wrong after the commit, Millrace must not acknowledge.
   * @param began arrival of the message by `performance.now()`
   * @throws `unavailable`: the process ends, or the sender disconnected before the message began
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

  /** Not async, to save memory: see `pipeline.ts`. */
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

  /** `isTimed`: the clock was right at the arrival; `room` settles when the message enters the budget. */
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

  /** The message gets its time of receipt by the right clock. */
  async #handleWithRightClock<M extends Admitted, T>(
    message: M,
    handling: Handling<M, T>,
    began: number,
  ): Promise<T> {
    const time = this.#clockGuard.now();
    // A message that waits only for room begins at once when it enters the budget. An await of a number would let it overtake this message.
    const now = typeof time === 'number' ? time : await time;
    const received: M = { ...message, receivedAt: now - Math.round(performance.now() - began) };
    return handleOrRefuse(received, handling);
  }

  /** For a message that waits for more than its handler: for room, for its dead letter, or for the right clock. */
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

  /** An undefined result leaves the message unacknowledged. */
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

/** @throws the error, if the source of the message handles errors itself */
function refuse<M extends Admitted, T>(message: M, handling: Handling<M, T>, error: unknown): Promise<T> {
  if (!handling.refuse) throw error;
  return handling.refuse(message, error);
}

/**
 * Messages of a device begin in order of arrival and run concurrently. Later messages wait for a barrier. For example,
 * a birth must be committed before the first measurement of a new device, which needs the registration, and a status
 * before the next measurement, which shows that the device is online.
 */
export class DeviceQueue {
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

/** A sender and the devices that it sends for share one sequence of messages, so they share a queue. */
export const queueKeyOf = ({ sender }: Topic, identity: Identity): string => sender ?? identity.id;

/** Later messages of the device wait for a message of this route. */
export const isBarrier = (route: Topic): boolean =>
  route.kind === 'birth' || route.kind === 'status' || route.isBarrier === true;

const POLL_MS = 20;

/** The health check reports the age of the oldest unsettled message. An orderly stop waits until all are settled. */
export class Progress {
  #answeredAt;
  #clock;
  /** arrival by message, the oldest first */
  #unsettled: Map<object, number> = new Map();
  #settledAt = Number.NEGATIVE_INFINITY;

  constructor({
    answeredAt,
    clock = () => performance.now(),
  }: {
    /** ms of the same clock at the last answer of the database */
    answeredAt: () => number;
    /** ms of a monotonic clock */
    clock?: () => number;
  }) {
    this.#answeredAt = answeredAt;
    this.#clock = clock;
  }

  begin(message: object, now: number = this.#clock()) {
    this.#unsettled.set(message, now);
  }

  /** `isSettled` false: the message stays unacknowledged, or its topic is unknown, so it is no progress. */
  end(message: object, isSettled: boolean, now: number = this.#clock()) {
    this.#unsettled.delete(message);
    if (isSettled) this.#settledAt = now;
  }

  get unsettled() {
    return this.#unsettled.size;
  }

  /** Returns 0 if no message waits. */
  get oldestMs() {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined ? 0 : this.#clock() - oldest;
  }

  /**
   * Some messages need no database, so progress needs both a settled message and an answer of the database. Counts from
   * the earlier of the last two, at most from the arrival of the oldest unsettled message. 0: no message waits.
   */
  get standstillMs(): number {
    const [oldest] = this.#unsettled.values();
    return oldest === undefined
      ? 0
      : this.#clock() - Math.max(oldest, Math.min(this.#settledAt, this.#answeredAt()));
  }

  /** Settles when every message is settled, or at one of the bounds. */
  async untilSettled({
    withinMs,
    isHopeless = () => false,
  }: {
    withinMs: number;
    isHopeless?: () => boolean;
  }): Promise<void> {
    const deadline = this.#clock() + withinMs;
    while (this.#unsettled.size > 0 && this.#clock() < deadline && !isHopeless()) await sleep(POLL_MS);
  }

  /** The check fails when a message waits for longer. */
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
