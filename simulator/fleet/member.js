import { countSamples } from '../payloads/index.js';

/** @import { DeviceFaults } from '../faults/device-faults.js' */
/** @import { Parcel } from '../parcel.js' */
/** @import { Series } from '../payloads/index.js' */
/** @import { SimulatedDevice, SimulatedSensor } from './herd.js' */

/**
 * A device of the fleet: reads its sensors, gathers a batch, and hands it over.
 *
 * @param {object} options
 * @param {SimulatedDevice} options.simulated
 * @param {{ publish: (parcel: Parcel) => void }} options.sender
 * @param {(series: Series[]) => string} options.encode
 * @param {DeviceFaults | null} options.faults
 */
export function createMember({ simulated, sender, encode, faults }) {
  let batch = emptyBatch(simulated);

  /** @param {Parcel[]} parcels @param {number} [dueAt] */
  function send(parcels, dueAt) {
    for (const parcel of parcels) sender.publish(dueAt === undefined ? parcel : { ...parcel, dueAt });
  }

  return {
    /** Reads every sensor once. @param {number} ts epoch ms */
    measure(ts) {
      for (let i = 0; i < batch.length; i++) {
        const series = /** @type {Series} */ (batch[i]);
        const sensor = /** @type {SimulatedSensor} */ (simulated.sensors[i]);
        series.samples.push({ ts, value: sensor.read() });
      }
    },

    /** Publishes what is measured. @param {number} [dueAt] when it was to be, in ms of `performance.now()` */
    publish(dueAt) {
      if (countSamples(batch) === 0) return;
      const series = batch;
      batch = emptyBatch(simulated);
      send(faults ? faults.next(series) : [{ series, payload: encode(series) }], dueAt);
    },

    /** Publishes what is measured and what was held back. */
    finish() {
      this.publish();
      if (faults) send(faults.rest());
    },
  };
}

/** @typedef {ReturnType<typeof createMember>} Member */

/** @param {SimulatedDevice} simulated @returns {Series[]} */
const emptyBatch = ({ sensors }) => sensors.map(({ name, unit }) => ({ name, unit, samples: [] }));
