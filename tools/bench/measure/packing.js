import { unpackSamples } from '../../../schema/packed/unpack.js';

/** @import { packSamples } from '../../../schema/packed/pack.js' */
/** @import { SensorHour } from '../load/hours.js' */

/**
 * What packing hours costs.
 *
 * @typedef {object} Packing
 * @property {number} bytes a sample
 * @property {number} packNs CPU a sample
 * @property {number} unpackNs CPU a sample
 */

/**
 * @param {SensorHour[]} hours
 * @param {typeof packSamples} pack
 * @param {number} forMs each of packing and unpacking, after as much to warm up
 * @returns {Packing}
 */
export function measurePacking(hours, pack, forMs) {
  const packOne = (/** @type {SensorHour} */ { hour, times, values }) =>
    pack(hour, times, values, 0, times.length);
  const packed = hours.map((hour) => ({ hour: hour.hour, blob: packOne(hour) }));
  const samples = hours.reduce((sum, { times }) => sum + times.length, 0);
  const bytes = packed.reduce((sum, { blob }) => sum + blob.length, 0);
  const nsOf = (/** @type {() => void} */ pass) => {
    repeat(pass, forMs);
    return repeat(pass, forMs) / samples;
  };
  return {
    bytes: bytes / samples,
    packNs: nsOf(() => {
      for (const hour of hours) packOne(hour);
    }),
    unpackNs: nsOf(() => {
      for (const { hour, blob } of packed) unpackSamples(hour, blob);
    }),
  };
}

/** @param {() => void} pass @param {number} forMs @returns {number} CPU ns a pass */
function repeat(pass, forMs) {
  const before = process.cpuUsage();
  const end = performance.now() + forMs;
  let passes = 0;
  do {
    pass();
    passes += 1;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / passes;
}
