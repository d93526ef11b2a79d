import { createHistogram } from 'node:perf_hooks';

const RATE_OVER_MS = 10_000;

const nothing = () => ({ messages: 0, samples: 0 });

/**
 * Counts messages and samples by their outcome for a fleet or a replay. A message without samples (poison) counts as a message.
 */
export function createMeter() {
  let startedAt = Date.now();
  const [made, acknowledged, dropped] = [nothing(), nothing(), nothing()];
  const total = new Latencies();
  const recent = new Latencies();
  let before = recent.read();
  let period = { at: startedAt, ...nothing() };
  /** @type {{ at: number, acknowledged: number }[]} an entry for each snapshot of the last seconds */
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
    /** Starts the time over which rates are measured. */
    begin() {
      startedAt = Date.now();
      period.at = startedAt;
      marks = [{ at: startedAt, acknowledged: acknowledged.samples }];
    },

    /** @param {number} samples number of samples in a message that is to be sent */
    made: (samples) => add(made, samples),

    /** @param {number} samples @param {number} latencyMs time until the PUBACK, from sending or from the scheduled time */
    acknowledged(samples, latencyMs) {
      add(acknowledged, samples);
      total.record(latencyMs);
      recent.record(latencyMs);
    },

    /** @param {number} samples number of samples in a message that a full outbox dropped */
    dropped: (samples) => add(dropped, samples),

    /**
     * Returns samples, samples/s, and latencies of the present period. Without a latency in this period, the previous period's
     * are returned.
     */
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

    /** Ends a period and starts the next one. Returns the figures of the ended period. */
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

    /** Returns the figures of the whole run. */
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

/**
 * Range of the histogram in µs: up to an hour. A longer latency counts as an hour. Three figures mean an error of one thousandth
 * at most.
 */
const RANGE = { lowest: 1, highest: 3_600_000_000, figures: 3 };

/**
 * @typedef {object} Latency in ms; all null where nothing was recorded
 * @property {number} count
 * @property {number | null} p50
 * @property {number | null} p90
 * @property {number | null} p99
 * @property {number | null} p999
 * @property {number | null} max
 * @property {number | null} mean
 */

/** Records latencies in the HDR histogram of Node.js (HdrHistogram_c). A value costs 35 ns, a histogram 200 KB. No dependency is needed. */
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

  /** @returns {Latency} the percentiles of the recorded latencies */
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
