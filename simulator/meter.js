import { createHistogram } from 'node:perf_hooks';

const RATE_OVER_MS = 10_000;

const nothing = () => ({ messages: 0, samples: 0 });

/**
 * Counts what becomes of messages and of the samples in them; one for a fleet or a replay. A message without samples
 * (poison) counts as a message.
 */
export function createMeter() {
  let startedAt = Date.now();
  const [made, acknowledged, dropped] = [nothing(), nothing(), nothing()];
  const total = new Latencies();
  const recent = new Latencies();
  let before = recent.read();
  let period = { at: startedAt, ...nothing() };
  /** @type {{ at: number, acknowledged: number }[]} one for each snapshot of the last seconds */
  let marks = [{ at: startedAt, acknowledged: 0 }];

  /** @param {ReturnType<typeof nothing>} count @param {number} samples */
  function add(count, samples) {
    count.messages += 1;
    count.samples += samples;
  }

  /** @param {number} now @returns {number} samples/s of the last 10 s */
  function rate(now) {
    marks = [
      ...marks.filter(({ at }) => at >= now - RATE_OVER_MS),
      { at: now, acknowledged: acknowledged.samples },
    ];
    const first = marks[0] ?? { at: startedAt, acknowledged: 0 };
    return now > first.at ? ((acknowledged.samples - first.acknowledged) * 1000) / (now - first.at) : 0;
  }

  return {
    /** The time that rates are taken over begins now. */
    begin() {
      startedAt = Date.now();
      period.at = startedAt;
      marks = [{ at: startedAt, acknowledged: acknowledged.samples }];
    },

    /** @param {number} samples in a message that is to be sent */
    made: (samples) => add(made, samples),

    /** @param {number} samples @param {number} latencyMs to PUBACK, from sending, or from when it was to be sent */
    acknowledged(samples, latencyMs) {
      add(acknowledged, samples);
      total.record(latencyMs);
      recent.record(latencyMs);
    },

    /** @param {number} samples pushed out of a full outbox */
    dropped: (samples) => add(dropped, samples),

    /** The figures of a run: samples, samples/s, and latencies of this period, or of the previous one at its begin. */
    snapshot() {
      const now = Date.now();
      const latency = recent.read();
      return {
        made: made.samples,
        acknowledged: acknowledged.samples,
        dropped: dropped.samples,
        waiting: made.samples - acknowledged.samples - dropped.samples,
        seconds: (now - startedAt) / 1000,
        perSecond: rate(now),
        latency: latency.count > 0 ? latency : before,
      };
    },

    /** Ends a period and begins another. */
    endPeriod() {
      const now = Date.now();
      const seconds = (now - period.at) / 1000;
      const messages = acknowledged.messages - period.messages;
      const samples = acknowledged.samples - period.samples;
      before = recent.read();
      recent.reset();
      period = { at: now, ...acknowledged };
      return { at: now, seconds, messages, samples, latency: before };
    },

    /** The figures of the whole run. */
    totals() {
      const seconds = (Date.now() - startedAt) / 1000;
      return { seconds, made, acknowledged, dropped, latency: total.read() };
    },
  };
}

/** @typedef {ReturnType<typeof createMeter>} Meter */
/** @typedef {ReturnType<Meter['snapshot']>} Snapshot */
/** @typedef {ReturnType<Meter['endPeriod']>} Period */
/** @typedef {ReturnType<Meter['totals']>} Totals */

/** The range of latencies in µs: up to an hour, and a longer one counts as an hour. Three figures: an error of a thousandth at most. */
const RANGE = { lowest: 1, highest: 3_600_000_000, figures: 3 };

/**
 * @typedef {object} Latency ms, all null where nothing was recorded
 * @property {number} count
 * @property {number | null} p50
 * @property {number | null} p90
 * @property {number | null} p99
 * @property {number | null} p999
 * @property {number | null} max
 * @property {number | null} mean
 */

/** Latencies in an HDR histogram. Node's own is HdrHistogram_c: 35 ns a value, 200 KB, and no dependency. */
export class Latencies {
  #histogram = createHistogram(RANGE);

  /** Records a latency. @param {number} ms */
  record(ms) {
    this.#histogram.record(Math.min(RANGE.highest, Math.max(RANGE.lowest, Math.round(ms * 1000))));
  }

  /** Clears the histogram. */
  reset() {
    this.#histogram = createHistogram(RANGE);
  }

  /** Reads the percentiles. @returns {Latency} */
  read() {
    const empty = this.#histogram.count === 0;
    const ms = (/** @type {number} */ us) => (empty ? null : us / 1000);
    return {
      count: this.#histogram.count,
      p50: ms(this.#histogram.percentile(50)),
      p90: ms(this.#histogram.percentile(90)),
      p99: ms(this.#histogram.percentile(99)),
      p999: ms(this.#histogram.percentile(99.9)),
      max: ms(this.#histogram.max),
      mean: ms(this.#histogram.mean),
    };
  }
}
