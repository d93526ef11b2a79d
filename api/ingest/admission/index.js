/**
 * Admission to ingest: room for the bytes of unsettled messages, a clock that is right, and the order of the messages of each device.
 * Nothing here reads a payload or writes to the database.
 */
import { ByteBudget, keptBytes } from './byte-budget.js';
import { DeviceQueue } from './device-queue.js';
import { Progress } from './progress.js';

/** @import { ClockGuard } from '../../store/clock-guard.js' */
/** @import { Message } from '../pipeline.js' */

/** Limit of the bytes of unsettled messages. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/** What admission has to know of a message. @typedef {Pick<Message, 'payload' | 'receivedAt' | 'signal'>} Admitted */

/**
 * Handles the messages of one source after their admission.
 *
 * @template {Admitted} M
 * @template T
 * @typedef {object} Handling
 * @property {(message: M) => Promise<T>} handle settles when everything in the message is committed or refused
 * @property {(message: M, result: T | undefined, began: number) => void} [end] called at the end of every message that was passed to
 *   `admit`. `result`: of `handle`; undefined: the message stays unacknowledged. `began`: its arrival by `performance.now()`
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
   * Handles a message when there is room for it. The clock is asked twice. At the arrival, because by a wrong clock good measurements
   * would be refused, and those without a time would be stored at a wrong one. And after the commit, because nothing may be acknowledged
   * while the clock is wrong.
   *
   * @template {Admitted} M
   * @template T
   * @param {M} message that arrived now
   * @param {Handling<M, T>} handling
   * @returns {Promise<T>} settles when the message may be acknowledged
   * @throws {MillraceError} `unavailable`: the process ends, or the sender disconnected before the message began
   */
  async admit(message, handling) {
    const began = performance.now();
    const isTimed = this.#clockGuard.isTrusted;
    /** @type {T | undefined} */
    let result;
    try {
      const room = this.budget.enter(keptBytes(message.payload), message.signal);
      if (room !== undefined) await room;
      try {
        const settled = await handling.handle(isTimed ? message : await this.#receiveAgain(message, began));
        if (!this.#clockGuard.isTrusted) await this.#clockGuard.now();
        result = settled;
        return settled;
      } finally {
        this.budget.leave(keptBytes(message.payload));
      }
    } finally {
      handling.end?.(message, result, began);
    }
  }

  /**
   * Waits until the clock is right.
   *
   * @template {Admitted} M
   * @param {M} message that arrived while the clock was wrong
   * @param {number} began by `performance.now()`, when it arrived
   * @returns {Promise<M>} with its time of receipt by the right clock
   */
  async #receiveAgain(message, began) {
    const now = await this.#clockGuard.now();
    return { ...message, receivedAt: now - Math.round(performance.now() - began) };
  }
}
