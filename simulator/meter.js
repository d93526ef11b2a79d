import { createLatencies } from './latencies.js';

const RATE_OVER_MS = 10_000;

const nothing = () => ({ messages: 0, samples: 0 });

/**
 * Counts what becomes of messages and of the samples in them; one for a fleet or a replay. A message without samples
 * (poison) counts as a message.
 */
export function createMeter() {
  let startedAt = Date.now();
  const [made, acknowledged, dropped] = [nothing(), nothing(), nothing()];
  const total = createLatencies();
  const recent = createLatencies();
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

    /** How it goes: samples, samples/s, and the latencies of this period, or of the one before where it has just begun. */
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

    /** All from the beginning. */
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
