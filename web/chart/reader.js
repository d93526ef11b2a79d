import { useServices } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { useQuery } from '../state/use-query.js';
import { shapeOfBins, shapeOfSamples } from './shape.js';

/** @import { Client } from '../api/client.js' */
/** @import { Range, Shape } from './shape.js' */

/** Fewer samples than this are drawn each by itself. */
const FEW_SAMPLES = 2_000;
/** The narrowest bins are a second wide. Where there are only a few of them, more samples are drawn by themselves. */
const NARROWEST_BIN_MS = 1000;
const FEW_BINS = 120;
const MOST_SAMPLES = 40_000;

/**
 * @typedef {{ device_id: string, sensor_id: string }} Sensor
 */

/**
 * Reads what a chart draws, in the source that suits the range.
 *
 * @param {Client} client
 * @param {Sensor} sensor
 */
export function createReader(client, { device_id, sensor_id }) {
  return {
    /**
     * @param {Range} range
     * @param {number} points at most
     * @param {AbortSignal} signal
     * @returns {Promise<Shape>} bins
     */
    async bins(range, points, signal) {
      return shapeOfBins(await client.series(device_id, sensor_id, { ...range, points }, signal), range);
    },

    /** @param {Range} range @param {AbortSignal} signal @returns {Promise<Shape>} samples */
    async samples(range, signal) {
      return shapeOfSamples(await client.samples(device_id, sensor_id, range, signal), range);
    },
  };
}

/** @typedef {ReturnType<typeof createReader>} Reader */

/** @param {Shape} bins @returns {boolean} whether the samples themselves are the better picture */
export function areFew({ count, stepMs }) {
  const samples = count.reduce((sum, samplesOfBin) => sum + samplesOfBin, 0);
  if (samples <= FEW_SAMPLES) return true;
  return stepMs === NARROWEST_BIN_MS && count.length <= FEW_BINS && samples <= MOST_SAMPLES;
}

/** So many samples may be read for one picture; of longer ranges, whole hours come from statistics. */
const SAMPLES_READ = 200_000;
const LONG_MS = 2 * 86_400_000;
const HOUR_MS = 3_600_000;
const POINTS = { min: 200, max: 2000 };
const DEFAULT_INTERVAL_MS = 1000;

/**
 * How many bins to ask for: about one to a pixel, so that none is wider than what one can see; but of long ranges no bins narrower than the
 * hours whose statistics are kept, unless the sensor is slow.
 *
 * @param {number} lengthMs of the range
 * @param {number} width of the chart, in CSS pixels
 * @param {number | null} intervalMs between two samples, from the device's birth
 * @returns {number}
 */
export function pointsFor(lengthMs, width, intervalMs) {
  const fine = Math.min(Math.max(Math.round(width), POINTS.min), POINTS.max);
  const isMuch = lengthMs / (intervalMs ?? DEFAULT_INTERVAL_MS) > SAMPLES_READ;
  return lengthMs > LONG_MS && isMuch ? Math.min(fine, Math.ceil(lengthMs / HOUR_MS) + 1) : fine;
}

/** Bins of the overview: a strip as wide as the page, a bin to a few pixels. */
const OVERVIEW_POINTS = 400;
const ENOUGH_POINTS = 60;
/** Each look is closer than the one before; a year comes down to its last minutes in three. */
const MOST_LOOKS = 4;
const REFRESH = { refreshMs: 60_000 };

/**
 * All that there is of a sensor, roughly: from its first sample that is kept until now.
 *
 * @param {{ device_id: string, sensor_id: string } | null} sensor null: not known yet
 * @returns {Shape | null} null: not known yet, or nothing
 */
export function useExtent(sensor) {
  const { client, clock } = useServices();
  const { data } = useQuery(
    sensor ? keyOf(sensor) : '',
    async (signal) => {
      if (!sensor) return null;
      const reader = createReader(client, sensor);
      const to = clock.now();
      let bins = await reader.bins({ from: 0, to }, OVERVIEW_POINTS, signal);
      for (let look = 1; look < MOST_LOOKS; look += 1) {
        const { ts, stepMs } = bins;
        const from = ts[0] ?? to;
        if (ts.length >= ENOUGH_POINTS || from >= to) break;
        bins = await reader.bins({ from, to }, pointsFor(to - from, OVERVIEW_POINTS, null), signal);
        if (bins.stepMs === stepMs) break;
      }
      return bins.ts.length > 0 ? { ...bins, from: bins.ts[0] ?? 0 } : null;
    },
    REFRESH,
  );
  return data;
}
