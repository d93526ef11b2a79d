import { performance } from 'node:perf_hooks';

/** After this time of continuous work the pacer yields to the event loop, even behind schedule. The process must read acknowledgements. */
const TURN_MS = 5;

/** A late call still gets the time at which it was due. The pacer never skips a call. */
export class Pacer {
  #perSecond;
  #onDue;
  #clock;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #startedAt = 0;
  #next = 0;

  constructor({
    perSecond,
    onDue,
    now: clock = () => performance.now(),
  }: {
    perSecond: number;
    /** `dueAt` in ms of `performance.now()` */
    onDue: (index: number, dueAt: number) => void;
    now?: () => number;
  }) {
    this.#perSecond = perSecond;
    this.#onDue = onDue;
    this.#clock = clock;
  }

  start() {
    this.#startedAt = this.#clock();
    this.#run();
  }

  stop() {
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
  }

  /** How late the next call is, in ms. */
  behindMs(): number {
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
 * Creates a schedule in which devices take turns at a fixed rate of messages. The samples of a message are spread evenly over the
 * time since the previous message of its device:
 *
 *     message       0     1     2     3     4     5   ...        3 devices, 2 samples a message
 *     device        0     1     2     0     1     2
 *     sent at       0     1     2     3     4     5   ...        in 1/rate s
 *     measured at -1.5 0        ...   1.5 3                      by device 0
 * @param options `samples`: samples of each sensor in a message; `startedAt`: in epoch ms
 */
export function createOpenSchedule({
  devices,
  perSecond,
  samples,
  startedAt,
}: {
  devices: number;
  perSecond: number;
  samples: number;
  startedAt: number;
}) {
  const intervalMs = sampleIntervalMs({ devices, perSecond, samples });
  return {
    device: (index: number) => index % devices,

    /** Times of the samples in whole epoch ms; the last one is the time at which the message is due. */
    times(index: number): number[] {
      const first = ((index % devices) * 1000) / perSecond;
      const step = Math.floor(index / devices) * samples;
      // The sum is rounded before the epoch is added. A double of that size resolves only a quarter of a microsecond.
      return Array.from(
        { length: samples },
        (_, i) => startedAt + Math.floor(first + (step - samples + 1 + i) * intervalMs),
      );
    },
  };
}

/** In ms. Below 1 ms, two samples would have the same timestamp. */
export const sampleIntervalMs = ({
  devices,
  perSecond,
  samples,
}: {
  devices: number;
  perSecond: number;
  samples: number;
}) => (devices * 1000) / perSecond / samples;

export const samplesPerSensor = ({ batch, interval }: { batch: number; interval: number }): number =>
  Math.max(1, Math.round(batch / interval));
