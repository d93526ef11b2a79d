/** All devices share this timer. A sample gets the time at which it was due, not the time of the timer. */
const SHORTEST_WAIT_MS = 4;

/** After this time of continuous work the scheduler yields to the event loop. The process must read acknowledgements. */
const TURN_MS = 20;

/** If schedule and clock differ by more than this, the machine slept or its clock was set. The scheduler then skips the missed samples. */
const LEAP_MS = 10_000;

/** In the order of the schedule, as soon as a measurement is due. */
export class Scheduler {
  #schedule;
  #onDue;
  #leapMs;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #next = 0;

  constructor({
    schedule,
    intervalMs,
    onDue,
  }: {
    schedule: Schedule;
    intervalMs: number;
    /** `ts` in epoch ms, never ahead of the clock */
    onDue: (index: number, ts: number) => void;
  }) {
    this.#schedule = schedule;
    this.#onDue = onDue;
    this.#leapMs = Math.max(LEAP_MS, 2 * intervalMs);
  }

  start() {
    this.#startedAt = Date.now();
    this.#run();
  }

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
 * Creates a schedule of measurements. The measurements of all devices are spread evenly over the interval, and the batches over
 * the batch interval. The load on broker and database is therefore flat:
 *
 *     measurement  0        1        2        3        4 ...
 *     device       0        1        2        0        1        3 devices
 *     step         0        0        0        1        1
 *     due after    1/3      2/3      3/3      4/3      5/3 ...  of the interval
 * @param options whole ms
 */
export function createSchedule({
  devices,
  intervalMs,
  batchMs,
}: {
  devices: number;
  intervalMs: number;
  batchMs: number;
}) {
  const stepsPerBatch = Math.max(1, Math.round(batchMs / intervalMs));
  return {
    device: (index: number) => index % devices,

    /** Two measurements of a device are exactly one interval apart. */
    dueMs: (index: number): number =>
      Math.floor((intervalMs * ((index % devices) + 1)) / devices) + Math.floor(index / devices) * intervalMs,

    /**
     * The first batch ends with the first measurement, so that a dashboard shows values at once. The second batch ends at the place of the
     * device within the batch interval. All further batches of the device are one batch interval apart.
     */
    endsBatch(index: number): boolean {
      const step = Math.floor(index / devices);
      return step === 0 || step % stepsPerBatch === (index % devices) % stepsPerBatch;
    },
  };
}

type Schedule = ReturnType<typeof createSchedule>;
