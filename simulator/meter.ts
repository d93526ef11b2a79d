import { createHistogram } from 'node:perf_hooks';

const RATE_OVER_MS = 10_000;

const nothing = () => ({ messages: 0, samples: 0 });

/** Counts messages and samples by their outcome. A message without samples (poison) counts as a message. */
export function createMeter() {
  let startedAt = Date.now();
  const [made, acknowledged, dropped] = [nothing(), nothing(), nothing()];
  const total = new Latencies();
  const recent = new Latencies();
  let before = recent.read();
  let period = { at: startedAt, ...nothing() };
  let marks: { at: number; acknowledged: number }[] = [{ at: startedAt, acknowledged: 0 }];

  function add(count: ReturnType<typeof nothing>, samples: number) {
    count.messages += 1;
    count.samples += samples;
  }

  /** samples/s of the last 10 s */
  function rate(now: number): number {
    marks = [
      ...marks.filter(({ at }) => at >= now - RATE_OVER_MS),
      { at: now, acknowledged: acknowledged.samples },
    ];
    const first = marks[0] ?? { at: startedAt, acknowledged: 0 };
    return now > first.at ? ((acknowledged.samples - first.acknowledged) * 1000) / (now - first.at) : 0;
  }

  return {
    begin() {
      startedAt = Date.now();
      period.at = startedAt;
      marks = [{ at: startedAt, acknowledged: acknowledged.samples }];
    },

    made: (samples: number) => add(made, samples),

    /** @param latencyMs until the PUBACK, from sending or from the scheduled time */
    acknowledged(samples: number, latencyMs: number) {
      add(acknowledged, samples);
      total.record(latencyMs);
      recent.record(latencyMs);
    },

    dropped: (samples: number) => add(dropped, samples),

    /** Latencies of the present period. Without a latency in this period, the previous period's are returned. */
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

    totals() {
      const seconds = (Date.now() - startedAt) / 1000;
      return { seconds, made, acknowledged, dropped, latency: total.read() };
    },
  };
}

export type Meter = ReturnType<typeof createMeter>;
export type Snapshot = ReturnType<Meter['snapshot']>;
export type Period = ReturnType<Meter['endPeriod']>;
export type Totals = ReturnType<Meter['totals']>;

/** In µs: up to an hour. A longer latency counts as an hour. Three figures mean an error of one thousandth at most. */
const RANGE = { lowest: 1, highest: 3_600_000_000, figures: 3 };

/** in ms; all null where nothing was recorded */
export interface Latency {
  count: number;
  p50: number | null;
  p90: number | null;
  p99: number | null;
  p999: number | null;
  p9999: number | null;
  max: number | null;
  mean: number | null;
}

/** HDR histogram of Node.js (HdrHistogram_c). A value costs 35 ns, a histogram 200 KB. No dependency is needed. */
export class Latencies {
  #histogram = createHistogram(RANGE);

  record(ms: number) {
    this.#histogram.record(Math.min(RANGE.highest, Math.max(RANGE.lowest, Math.round(ms * 1000))));
  }

  reset() {
    this.#histogram = createHistogram(RANGE);
  }

  read(): Latency {
    const empty = this.#histogram.count === 0;
    const ms = (us: number) => (empty ? null : us / 1000);
    return {
      count: this.#histogram.count,
      p50: ms(this.#histogram.percentile(50)),
      p90: ms(this.#histogram.percentile(90)),
      p99: ms(this.#histogram.percentile(99)),
      p999: ms(this.#histogram.percentile(99.9)),
      p9999: ms(this.#histogram.percentile(99.99)),
      max: ms(this.#histogram.max),
      mean: ms(this.#histogram.mean),
    };
  }
}
