import { packHour } from '../../../schema/packed/hour/pack-hour.js';
import { packSamples } from '../../../schema/packed/pack.js';
import { recordedHours, secondlyHours } from '../load/hours.js';
import { startObserving } from '../measure/observe.js';
import { measurePacking } from '../measure/packing.js';
import { figure, percent } from '../report/table.js';

/** @import { Packing } from '../measure/packing.js' */
/** @import { Part } from './index.js' */

/** By which clocks are off at most, in ms. */
const CLOCKS = { 'exact clock': 0, '20 ms of jitter': 20 };

/** Of a comparison's run, for each way of packing and each signal. */
const SHARE = 1 / 10;

/** @typedef {{ signal: string, clock: keyof typeof CLOCKS, hour: Packing, arrays: Packing }} Size */

/**
 * What a sample takes in a packed hour, and what packing and unpacking it costs, against version 1 of packed samples.
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
