import { createLatencyCounts } from './latency-counts.js';
import { statsOf } from './vital-signs.js';

/** Rates and latencies are those of this many past seconds. */
const SECONDS = 5;

/**
 * What the pipeline of this process does right now, over the last seconds: for people who watch. Prometheus has its own,
 * finer counts.
 *
 * @param {object} parts
 * @param {() => number} parts.clock epoch ms
 * @param {() => Pick<import('./vital-signs.js').VitalSigns, 'in_flight' | 'window' | 'window_most' | 'waiting'>} parts.pressure on the database
 * @param {() => number} [parts.readers] how many follow the stream
 */
export function createVitals({ clock, pressure, readers = () => 0 }) {
  const slots = Array.from({ length: SECONDS + 1 }, () => ({
    second: 0,
    samples: 0,
    refused: 0,
    commits: createLatencyCounts(),
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

  /** @returns {import('./vital-signs.js').VitalSigns} */
  function signs() {
    const now = Math.floor(clock() / 1000);
    // The second that runs is not whole yet.
    const whole = slots.filter(({ second }) => second < now && second >= now - SECONDS);
    const commits = createLatencyCounts();
    for (const slot of whole) commits.add(slot.commits.list());
    const perSecond = (/** @type {'samples' | 'refused'} */ figure) =>
      whole.reduce((sum, slot) => sum + slot[figure], 0) / SECONDS;
    return {
      samples_per_s: perSecond('samples'),
      refused_per_s: perSecond('refused'),
      ...pressure(),
      readers: readers(),
      commits: commits.list(),
    };
  }

  return {
    /**
     * @param {{ samples: number, refused: number, commitMs: number }} message one that is settled
     */
    note({ samples, refused, commitMs }) {
      const slot = slotNow();
      slot.samples += samples;
      slot.refused += refused;
      slot.commits.record(commitMs);
    },

    signs,

    read: () => statsOf([signs()]),
  };
}

/** @typedef {ReturnType<typeof createVitals>} Vitals */
