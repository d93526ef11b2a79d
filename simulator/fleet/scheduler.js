/** The shortest wait of the timer that all devices share, in ms. Samples have their due times, not the times of the timer. */
const SHORTEST_WAIT_MS = 4;

/** After this time of work, in ms, the event loop gets its turn, even if more is due, so that acknowledgements are read. */
const TURN_MS = 20;

/** With a larger difference, the machine slept or its clock was set. The missed samples were not measured. */
const LEAP_MS = 10_000;

/** Calls `onDue` for every measurement of a schedule, in order, when its time has come. */
export class Scheduler {
  #schedule;
  #onDue;
  #leapMs;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #startedAt = 0;
  #next = 0;

  /**
   * @param {object} options
   * @param {Schedule} options.schedule
   * @param {number} options.intervalMs
   * @param {(index: number, ts: number) => void} options.onDue `ts` in epoch ms, never ahead of the clock
   */
  constructor({ schedule, intervalMs, onDue }) {
    this.#schedule = schedule;
    this.#onDue = onDue;
    this.#leapMs = Math.max(LEAP_MS, 2 * intervalMs);
  }

  /** Begins with the first step now. */
  start() {
    this.#startedAt = Date.now();
    this.#run();
  }

  /** Ends all steps. */
  stop() {
    clearTimeout(this.#timer);
  }

  #run() {
    const now = Date.now();
    const behindMs = now - this.#startedAt - this.#schedule.dueMs(this.#next);
    if (Math.abs(behindMs) > this.#leapMs) this.#startedAt += behindMs;
    while (this.#startedAt + this.#schedule.dueMs(this.#next) <= now && Date.now() - now < TURN_MS) {
      this.#onDue(this.#next, this.#startedAt + this.#schedule.dueMs(this.#next));
      this.#next += 1;
    }
    const waitMs = this.#startedAt + this.#schedule.dueMs(this.#next) - Date.now();
    this.#timer = setTimeout(() => this.#run(), Math.max(SHORTEST_WAIT_MS, Math.min(waitMs, this.#leapMs)));
  }
}

/**
 * The schedule of measurements. The devices share the interval out evenly, and the batch interval too, so that the
 * load on broker and database is flat:
 *
 *     measurement  0        1        2        3        4 ...
 *     device       0        1        2        0        1        3 devices
 *     step         0        0        0        1        1
 *     due after    1/3      2/3      3/3      4/3      5/3 ...  of the interval
 *
 * @param {{ devices: number, intervalMs: number, batchMs: number }} options whole ms
 */
export function createSchedule({ devices, intervalMs, batchMs }) {
  const stepsPerBatch = Math.max(1, Math.round(batchMs / intervalMs));
  return {
    /** @param {number} index of a measurement, from 0 */
    device: (index) => index % devices,

    /** @param {number} index @returns {number} whole ms after the start; steps of a device are exactly one interval apart */
    dueMs: (index) =>
      Math.floor((intervalMs * ((index % devices) + 1)) / devices) + Math.floor(index / devices) * intervalMs,

    /**
     * The first batch goes out with the first measurement, so that a dashboard shows something at once, the second when
     * the device's turn within the batch interval comes, all others a batch interval apart.
     *
     * @param {number} index
     * @returns {boolean} whether a batch ends with this measurement
     */
    endsBatch(index) {
      const step = Math.floor(index / devices);
      return step === 0 || step % stepsPerBatch === (index % devices) % stepsPerBatch;
    },
  };
}

/** @typedef {ReturnType<typeof createSchedule>} Schedule */
