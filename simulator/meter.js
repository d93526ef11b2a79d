const LATENCIES_KEPT = 2048;
const RATE_OVER_MS = 10_000;

/** Counts what becomes of samples; one for a fleet or a replay. */
export function createMeter() {
  const startedAt = Date.now();
  const count = { made: 0, queued: 0, acknowledged: 0, dropped: 0 };
  /** @type {number[]} the latest acknowledgement times in ms, as a ring */
  const latencies = [];
  let next = 0;
  /** @type {{ at: number, acknowledged: number }[]} one for each snapshot of the last seconds */
  let marks = [{ at: startedAt, acknowledged: 0 }];

  return {
    /** @param {number} samples measured or read */
    made(samples) {
      count.made += samples;
    },
    /** @param {number} samples now in an outbox */
    queued(samples) {
      count.queued += samples;
    },
    /** @param {number} samples @param {number} latencyMs from sending to PUBACK */
    acknowledged(samples, latencyMs) {
      count.acknowledged += samples;
      latencies[next] = latencyMs;
      next = (next + 1) % LATENCIES_KEPT;
    },
    /** @param {number} samples pushed out of a full outbox */
    dropped(samples) {
      count.dropped += samples;
    },

    /** How it goes: samples, ms, samples/s; the rate is that of the last 10 s. */
    snapshot() {
      const now = Date.now();
      marks = [
        ...marks.filter(({ at }) => at >= now - RATE_OVER_MS),
        { at: now, acknowledged: count.acknowledged },
      ];
      const first = marks[0] ?? { at: startedAt, acknowledged: 0 };
      const sorted = latencies.toSorted((a, b) => a - b);
      return {
        made: count.made,
        acknowledged: count.acknowledged,
        dropped: count.dropped,
        waiting: count.queued - count.acknowledged - count.dropped,
        seconds: (now - startedAt) / 1000,
        perSecond: now > first.at ? ((count.acknowledged - first.acknowledged) * 1000) / (now - first.at) : 0,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
      };
    },
  };
}

/** @param {number[]} sorted @param {number} q from 0 to 1 @returns {number | null} nearest rank; null of nothing */
const quantile = (sorted, q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;

/** @typedef {ReturnType<typeof createMeter>} Meter */
/** @typedef {ReturnType<Meter['snapshot']>} Snapshot */
