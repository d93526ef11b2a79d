/**
 * When who measures. The devices share the interval out evenly, and the batch interval too, so that the load on
 * broker and database is flat:
 *
 *     measurement  0        1        2        3        4 ...
 *     device       0        1        2        0        1        3 devices
 *     step         0        0        0        1        1
 *     due after    1/3      2/3      3/3      4/3      5/3 ...  of the interval
 *
 * @param {{ devices: number, intervalMs: number, batchMs: number }} options whole ms
 */
export function createSchedule({ devices, intervalMs, batchMs }) {
  const stepsPerBatch = Math.max(1, Math.round(batchMs / intervalMs));
  return {
    /** @param {number} index of a measurement, from 0 */
    device: (index) => index % devices,

    /** @param {number} index @returns {number} whole ms after the start; steps of a device are exactly one interval apart */
    dueMs: (index) =>
      Math.floor((intervalMs * ((index % devices) + 1)) / devices) + Math.floor(index / devices) * intervalMs,

    /**
     * The first batch goes out with the first measurement, so that a dashboard shows something at once, the second when
     * the device's turn within the batch interval comes, all others a batch interval apart.
     *
     * @param {number} index
     * @returns {boolean} whether a batch ends with this measurement
     */
    endsBatch(index) {
      const step = Math.floor(index / devices);
      return step === 0 || step % stepsPerBatch === (index % devices) % stepsPerBatch;
    },
  };
}

/** @typedef {ReturnType<typeof createSchedule>} Schedule */
