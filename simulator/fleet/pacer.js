import { performance } from 'node:perf_hooks';

/** After this time, in ms, the event loop gets its turn, even behind schedule, so that acknowledgements are read. */
const TURN_MS = 5;

/**
 * Calls `onDue` at a fixed rate. A late call still gets the time at which it was due, and no call is left out.
 */
export class Pacer {
  #perSecond;
  #onDue;
  #clock;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {NodeJS.Immediate | undefined} */
  #soon;
  #startedAt = 0;
  #next = 0;

  /**
   * @param {object} options
   * @param {number} options.perSecond
   * @param {(index: number, dueAt: number) => void} options.onDue `dueAt` in ms of `performance.now()`
   * @param {() => number} [options.now] ms of a monotonic clock
   */
  constructor({ perSecond, onDue, now: clock = () => performance.now() }) {
    this.#perSecond = perSecond;
    this.#onDue = onDue;
    this.#clock = clock;
  }

  /** Begins with the first call now. */
  start() {
    this.#startedAt = this.#clock();
    this.#run();
  }

  /** Ends all calls. */
  stop() {
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
  }

  /** Measures the delay of the calls. @returns {number} ms by which this process is late */
  behindMs() {
    return this.#startedAt === 0 ? 0 : Math.max(0, this.#clock() - this.#dueAt());
  }

  /** When the next call is due, in ms of the clock. */
  #dueAt() {
    return this.#startedAt + (this.#next * 1000) / this.#perSecond;
  }

  #run() {
    let now = this.#clock();
    const turnEnds = now + TURN_MS;
    for (; this.#dueAt() <= now && now < turnEnds; now = this.#clock()) {
      this.#onDue(this.#next, this.#dueAt());
      this.#next += 1;
    }
    if (this.#dueAt() <= now) this.#soon = setImmediate(() => this.#run());
    else this.#timer = setTimeout(() => this.#run(), this.#dueAt() - now);
  }
}

/**
 * The turns of devices at a fixed rate of messages. A device sends the samples that it measured, evenly, since its previous turn:
 *
 *     message       0     1     2     3     4     5   ...        3 devices, 2 samples a message
 *     device        0     1     2     0     1     2
 *     sent at       0     1     2     3     4     5   ...        in 1/rate s
 *     measured at -1.5 0        ...   1.5 3                      by device 0
 *
 * @param {{ devices: number, perSecond: number, samples: number, startedAt: number }} options `samples` a sensor and
 *   message; `startedAt` in epoch ms
 */
export function createOpenSchedule({ devices, perSecond, samples, startedAt }) {
  const intervalMs = sampleIntervalMs({ devices, perSecond, samples });
  return {
    /** @param {number} index of a message, from 0 */
    device: (index) => index % devices,

    /** @param {number} index @returns {number[]} epoch ms, whole; the last one is when the message is due, never ahead of it */
    times(index) {
      const first = ((index % devices) * 1000) / perSecond;
      const step = Math.floor(index / devices) * samples;
      // Rounded before the epoch is added, which would leave a quarter of a microsecond's precision.
      return Array.from(
        { length: samples },
        (_, i) => startedAt + Math.floor(first + (step - samples + 1 + i) * intervalMs),
      );
    },
  };
}

/**
 * The time between two samples of a sensor, in ms. Below 1, two samples would have the same millisecond.
 *
 * @param {{ devices: number, perSecond: number, samples: number }} options
 */
export const sampleIntervalMs = ({ devices, perSecond, samples }) => (devices * 1000) / perSecond / samples;

/** @param {{ batch: number, interval: number }} flags in ms @returns {number} samples of a sensor in one message */
export const samplesPerSensor = ({ batch, interval }) => Math.max(1, Math.round(batch / interval));
