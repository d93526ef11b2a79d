import { createHistogram } from 'node:perf_hooks';

/** Rates and latencies are those of this many past seconds. */
const SECONDS = 5;

/** Longest time to commit that is told apart, in µs. */
const LONGEST_US = 600_000_000;

/**
 * What the pipeline does right now, over the last seconds: for people who watch. Prometheus has its own, finer counts.
 *
 * @param {{ clock: () => number, inFlight: () => number }} parts
 */
export function createVitals({ clock, inFlight }) {
  /** @type {Array<{ second: number, samples: number, refused: number, commits: import('node:perf_hooks').RecordableHistogram }>} */
  const slots = Array.from({ length: SECONDS + 1 }, () => ({
    second: 0,
    samples: 0,
    refused: 0,
    commits: createHistogram({ lowest: 1, highest: LONGEST_US, figures: 2 }),
  }));

  function slotNow() {
    const second = Math.floor(clock() / 1000);
    const slot = /** @type {typeof slots[number]} */ (slots[second % slots.length]);
    if (slot.second !== second) {
      Object.assign(slot, { second, samples: 0, refused: 0 });
      slot.commits.reset();
    }
    return slot;
  }

  return {
    /**
     * @param {{ samples: number, refused: number, commitMs: number }} message one that is settled
     */
    note({ samples, refused, commitMs }) {
      const slot = slotNow();
      slot.samples += samples;
      slot.refused += refused;
      slot.commits.record(Math.min(LONGEST_US, Math.max(1, Math.round(commitMs * 1000))));
    },

    /** @returns {{ samples_per_s: number, commit_ms: { p50: number | null, p99: number | null }, in_flight: number, refused_per_s: number }} */
    read() {
      const now = Math.floor(clock() / 1000);
      // The second that runs is not whole yet.
      const whole = slots.filter(({ second }) => second < now && second >= now - SECONDS);
      const commits = createHistogram({ lowest: 1, highest: LONGEST_US, figures: 2 });
      for (const slot of whole) if (slot.commits.count > 0) commits.add(slot.commits);
      const perSecond = (/** @type {number} */ sum) => Math.round((sum / SECONDS) * 10) / 10;
      const ms = (/** @type {number} */ percent) =>
        commits.count > 0 ? Math.round(commits.percentile(percent) / 10) / 100 : null;
      return {
        samples_per_s: perSecond(whole.reduce((sum, { samples }) => sum + samples, 0)),
        commit_ms: { p50: ms(50), p99: ms(99) },
        in_flight: inFlight(),
        refused_per_s: perSecond(whole.reduce((sum, { refused }) => sum + refused, 0)),
      };
    },
  };
}

/** @typedef {ReturnType<typeof createVitals>} Vitals */
