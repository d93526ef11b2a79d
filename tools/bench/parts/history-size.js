import { packHour } from '../../../schema/packed/hour/pack-hour.js';
import { packSamples } from '../../../schema/packed/pack.js';
import { unpackSamples } from '../../../schema/packed/unpack.js';
import { recordedHours, secondlyHours } from '../loader/hours.js';
import { startObserving } from '../measure/observe.js';
import { figure, percent } from '../report/table.js';

/** @import { Part } from './index.js' */
/** @import { SensorHour } from '../loader/hours.js' */

/** By which clocks are off at most, in ms. */
const CLOCKS = { 'exact clock': 0, '20 ms of jitter': 20 };

/** Share of a run of a comparison, for each way of packing and each signal. */
const SHARE = 1 / 10;

/** @typedef {{ signal: string, clock: keyof typeof CLOCKS, hour: Packing, arrays: Packing }} Size */

/**
 * Bytes of a sample in a packed hour, and the cost of packing and unpacking it, against version 1 of packed samples.
 *
 * @type {Part<{ sizes: Size[], steal: number }>}
 */
export const historySize = {
  name: 'history-size',
  title: 'History: an hour at 1 Hz, packed',

  async run({ flags, status }) {
    const recorded = await recordedHours();
    const observed = await startObserving({});
    /** @type {Size[]} */
    const sizes = [];
    for (const clock of /** @type {Array<keyof typeof CLOCKS>} */ (Object.keys(CLOCKS))) {
      for (const [signal, hours] of Object.entries(secondlyHours(recorded, CLOCKS[clock]))) {
        status(`${signal}, ${clock}`);
        const forMs = flags.runMs * SHARE;
        const hour = measurePacking(hours, packHour, forMs);
        sizes.push({ signal, clock, hour, arrays: measurePacking(hours, packSamples, forMs) });
      }
    }
    const { steal } = await observed();
    return { sizes, steal };
  },

  tables: ({ sizes, steal }) => [
    {
      head: [
        '',
        'bytes a sample',
        'in version 1',
        'pack, CPU ns',
        'in version 1',
        'unpack, CPU ns',
        'in version 1',
        'steal',
      ],
      rows: sizes.map(({ signal, clock, hour, arrays }) => [
        `${signal}, ${clock}`,
        figure(hour.bytes),
        figure(arrays.bytes),
        figure(hour.packNs),
        figure(arrays.packNs),
        figure(hour.unpackNs),
        figure(arrays.unpackNs),
        percent(steal),
      ]),
    },
  ],
};

/**
 * The cost of packing hours.
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
function measurePacking(hours, pack, forMs) {
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
