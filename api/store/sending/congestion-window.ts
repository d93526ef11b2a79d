import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../../common/errors.ts';
import { Queue } from '../../../common/queue.ts';

/**
 * The window changes at most once in `TICK_MS`, and only after `MIN_ANSWERS` answers. It also never changes twice within
 * the time of one request. Otherwise the second change would not yet see the effect of the first.
 */
const TICK_MS = 100;
const MIN_ANSWERS = 8;

/** In requests. Fewer requests in flight hardly load the database, and show nothing about its load. */
const MIN_SIZE = 4;

/** In requests. The window of a new process grows within seconds. */
const FIRST_SIZE = 32;

/**
 * The wanted latency: a request may take `TOLERANCE` times as long as with few requests in flight, and in any case `SLACK_MS` ms longer.
 * Below this limit throughput still grows, because client and server wake up once for many requests. Measured on two cores with one sample
 * per message, a message takes ingest 74 µs of CPU with 16 requests in flight, 65 µs with 64, 57 µs with 256, and 50 µs with 512. Above the
 * limit requests only wait in the database instead of in this process.
 */
const TOLERANCE = 8;
const SLACK_MS = 8;

/**
 * Factors of the window per tick. The window grows by at most a tenth plus one request, or shrinks to seven tenths at
 * least. So it grows from 4 to 64 requests within 2 s.
 */
const GROWTH = 1.1;
const DECLINE = 0.7;
const AFTER_FAILURES = 0.5;

/**
 * Share of failed requests above which the window shrinks. A smaller share comes from a few partitions, and requests to
 * all other partitions should not be slowed down.
 */
const FAILURE_SHARE = 0.1;

/**
 * In ms, under load. During a probe the window shrinks to `MIN_SIZE`, to measure the latency of the unloaded
 * database. A new process has no measurements yet, so its first probes follow each other faster.
 */
const PROBE_EVERY_MS = 10_000;
const FIRST_PROBES_EVERY_MS = 1000;
const FIRST_PROBES = 3;

/**
 * A probe ends after `PROBE_ANSWERS` answers, or after `PROBE_MS` ms if it has at least `MIN_ANSWERS` by then. The time counts from the
 * first request of the probe. Earlier requests are not counted, because in a busy database they may take longer than the whole probe.
 */
const PROBE_ANSWERS = 32;
const PROBE_MS = 300;

/**
 * Unloaded latencies come from probes, or from times when no request waited. Their median counts, so a
 * disturbance in fewer than half of them has no effect.
 */
const PROBES_KEPT = 7;

/** A measurement with a small window. `since`: start of the probe; `began`: when its first request was sent; `answers`: latencies in ms. */
type Probe = { since: number; began: number; answers: number[] };

/**
 * Bounds the requests in flight by the latency of the database, like congestion control in a network. Two sources:
 * - BBR (Cardwell et al., ACM Queue 14(5), 2016) keeps the pipe nearly empty from time to time, to measure the unloaded latency.
 * - Netflix' concurrency-limits multiplies the window by the gradient: the wanted latency divided by the measured one.
 *
 *     latency |                      . '        in flight up to the knee: throughput grows, latency hardly;
 *             |                  . '            beyond it only latency grows. The window stays where the
 *             |  ______________-'               median is TOLERANCE times the unloaded one.
 *             +----------------|-------- in flight
 */
export class CongestionWindow {
  #max;
  #min;
  #now;
  #size;
  /** Duration of each request since the last tick, in ms. */
  #answers: number[] = [];
  #failures = 0;
  #isLimiting = false;
  #tickedAt;
  #latency = 0;
  #probe: Probe | null = null;
  #probedAt;
  /** Unloaded latencies in ms, the newest last. */
  #unloaded: number[] = [];
  #calmest = Number.POSITIVE_INFINITY;

  /** @param options `max`: `INGEST_MAX_IN_FLIGHT`; `now`: ms of a monotonic clock */
  constructor({ max, now = () => performance.now() }: { max: number; now?: () => number }) {
    this.#max = max;
    this.#min = Math.min(MIN_SIZE, max);
    this.#size = Math.min(FIRST_SIZE, max);
    this.#now = now;
    this.#tickedAt = now();
    this.#probedAt = this.#tickedAt;
  }

  get size() {
    return this.#probe ? this.#min : Math.floor(this.#size);
  }

  noteWaiting() {
    this.#isLimiting = true;
  }

  /** @param began when the request was sent @param failed the database did not answer, or was overloaded */
  record(began: number, failed: boolean) {
    const now = this.#now();
    if (this.#probe && !failed) return this.#recordProbed(this.#probe, began, now);
    if (this.#probe) {
      // A failed request shows no latency, so this probe ends without a result.
      this.#probe = null;
      this.#probedAt = now;
    }
    if (failed) this.#failures++;
    else this.#answers.push(now - began);
    if (now - this.#tickedAt >= Math.max(TICK_MS, this.#latency)) this.#tick(now);
  }

  #tick(now: number) {
    const count = this.#answers.length;
    if (this.#failures > FAILURE_SHARE * (count + this.#failures))
      this.#size = Math.max(this.#min, this.#size * AFTER_FAILURES);
    else if (count >= MIN_ANSWERS) this.#adapt(medianOf(this.#answers));
    else return;
    const interval = this.#unloaded.length < FIRST_PROBES ? FIRST_PROBES_EVERY_MS : PROBE_EVERY_MS;
    if (now - this.#probedAt >= interval) {
      if (this.#isLimiting) this.#probe = { since: now, began: Number.POSITIVE_INFINITY, answers: [] };
      else this.#remember(now, this.#calmest);
    }
    this.#beginTick(now);
  }

  /** @param median of the answers since the last tick, in ms */
  #adapt(median: number) {
    this.#latency = median;
    this.#calmest = Math.min(this.#calmest, median);
    const gradient = this.#target() / median;
    if (gradient < 1) this.#size = Math.max(this.#min, this.#size * Math.max(DECLINE, gradient));
    // The window grows only if requests wait for it. Otherwise a larger window would have no effect to measure.
    else if (this.#isLimiting) this.#size = Math.min(this.#max, this.#size * Math.min(GROWTH, gradient) + 1);
  }

  #target(): number {
    const base = medianOf(this.#unloaded.length > 0 ? this.#unloaded : [this.#calmest]);
    return Math.max(base * TOLERANCE, base + SLACK_MS);
  }

  #beginTick(now: number) {
    this.#answers = [];
    this.#failures = 0;
    this.#isLimiting = false;
    this.#tickedAt = now;
  }

  #recordProbed(probe: Probe, began: number, now: number) {
    if (began < probe.since) return;
    probe.began = Math.min(probe.began, began);
    probe.answers.push(now - began);
    const { length } = probe.answers;
    if (length < MIN_ANSWERS || (length < PROBE_ANSWERS && now - probe.began < PROBE_MS)) return;
    this.#probe = null;
    this.#remember(now, medianOf(probe.answers));
    this.#beginTick(now);
  }

  #remember(now: number, ms: number) {
    this.#probedAt = now;
    this.#calmest = Number.POSITIVE_INFINITY;
    if (!Number.isFinite(ms)) return;
    this.#unloaded.push(ms);
    if (this.#unloaded.length > PROBES_KEPT) this.#unloaded.shift();
  }
}

/** The greater one if there are two middle numbers. @param numbers not empty, in any order */
export const medianOf = (numbers: number[]): number =>
  Float64Array.from(numbers).sort()[numbers.length >> 1] as number;

interface Bound {
  /** limit of requests in flight; read before each request */
  size: number;
  /** called when a request has to wait */
  noteWaiting?: () => void;
  /** called when a request was answered; `began` in ms of `performance.now()` */
  record?: (began: number, failed: boolean) => void;
}

/**
 * Each request acquires a permit before it is sent, and returns the permit when it is answered or has failed. A request
 * that waits has no permit. So messages with many requests cannot block each other, even with a bound of 1.
 */
export class Permits {
  #bound;
  #inUse = 0;
  #waiting: Queue<() => void> = new Queue();

  constructor(bound: Bound) {
    this.#bound = bound;
  }

  /** @returns undefined: the request may be sent now */
  enter(): Promise<void> | undefined {
    if (this.#inUse < this.#bound.size && this.#waiting.size === 0) {
      this.#inUse++;
      return undefined;
    }
    this.#bound.noteWaiting?.();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Call it once for each `enter`. @param began in ms of `performance.now()` */
  leave(began: number, error?: unknown) {
    this.#inUse--;
    this.#bound.record?.(began, isFailure(error));
    this.admit();
  }

  /** For a permit without a request. No latency was measured, so nothing is recorded. */
  cancel() {
    this.#inUse--;
    this.admit();
  }

  /** Several requests get a permit when the bound has grown. */
  admit() {
    while (this.#inUse < this.#bound.size) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#inUse++;
      next();
    }
  }

  get inUse() {
    return this.#inUse;
  }

  get waiting() {
    return this.#waiting.size;
  }
}

/** A refusal of the data is a normal answer, and no sign of a busy database. */
const isFailure = (error: unknown) => error instanceof MillraceError && error.code === 'unavailable';
