import { someAtOnce } from '../../common/some-at-once.js';
import { partsFor } from '../../schema/packed/layout.js';
import { isLate } from '../../schema/rules.js';
import { createHourBatches } from './hour-batches.js';

/**
 * Requests that one message has under way at most. A message of a year's hourly samples is 8,760 of them: all at once
 * they would stand before everybody else's in the queue for permits, and weigh 75 times the message.
 */
const HOURS_AT_ONCE = 16;

/** @typedef {import('./registry/cache.js').Device} Device */
/** @typedef {import('../../schema/packed/series.js').Numbers} Numbers */
/** @typedef {import('../store/measurements/writes.js').Hour} Hour */

/**
 * The samples of one sensor in one message, ready to be written: sorted, one per instant.
 *
 * @typedef {{ known: import('./registry/cache.js').Sensor, sensor: Buffer, times: Numbers, values: Numbers }} Series
 */

/** The rows of a message. @typedef {{ hours: Hour[], parts: number }} WritePlan `parts`: of each hour of the device */

/**
 * Commits samples: one row for each hour that a message touches, shared with other messages of the device that wait for the
 * same hour. Samples that are late for their hour go into history, too.
 *
 * @param {object} parts
 * @param {import('../store/measurements/writes.js').SampleWrites} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 * @param {import('./partition-watch.js').PartitionWatch} parts.partitions
 * @param {import('../trusted-clock.js').TrustedClock} parts.clock
 * @param {import('./late-writer.js').LateWriter} parts.late
 */
export function createSampleWriter({ store, patience, partitions, clock, late }) {
  const batches = createHourBatches({
    store,
    patience,
    onSend: (device, hour, rows) => partitions.note(device, hour, rows.length),
  });
  /** By hour, the number of parts that is committed for it. @type {WeakMap<Device, Map<number, number>>} */
  const spread = new WeakMap();

  /** @param {Device} device @param {number} bucket epoch ms @param {number} parts */
  async function commitParts(device, bucket, parts) {
    if (spread.get(device)?.get(bucket) === parts) return;
    await patience.persist(() => store.writeParts(device.bytes, bucket, parts));
    const hours = spread.get(device) ?? new Map();
    if (hours.size >= HOURS_REMEMBERED) hours.clear();
    spread.set(device, hours.set(bucket, parts));
  }

  /** @param {Device} device @param {Hour[]} hours @param {number} parts */
  function writeHours(device, hours, parts) {
    const [only] = hours;
    if (hours.length === 1 && only && parts === 1) return batches.add(device, only);
    const buckets = parts > 1 ? new Set(hours.map(({ bucket }) => bucket)) : [];
    // Both before the acknowledgement; which of them is committed first does not matter.
    return Promise.all([
      someAtOnce(HOURS_AT_ONCE, hours, (hour) => batches.add(device, hour)),
      someAtOnce(HOURS_AT_ONCE, buckets, (bucket) => commitParts(device, bucket, parts)),
    ]);
  }

  return {
    /**
     * Divides the samples of a message by the rows that they become. Nothing is encoded yet.
     *
     * @param {Device} device
     * @param {Series[]} series
     * @returns {WritePlan}
     */
    plan(device, series) {
      const parts = partsFor(device.sensors.size);
      return { hours: store.plan(series, parts), parts };
    },

    /**
     * @param {Device} device
     * @param {WritePlan} plan
     * @returns {Promise<void>} settles when all of it is committed
     * @throws {import('../../common/errors.js').MillraceError} `rejected`: the database refuses these samples
     */
    async write(device, { hours, parts }) {
      await writeHours(device, hours, parts);
      // Read after the commit: a packer whose reading began before may have missed it.
      const time = clock.now();
      const at = typeof time === 'number' ? time : await time;
      if (hours.some(({ bucket }) => isLate(bucket, at))) await late.write(device, hours, at);
    },
  };
}

/** Hours of a wide device that are remembered; a backfill goes through many. */
const HOURS_REMEMBERED = 1000;

/** @typedef {ReturnType<typeof createSampleWriter>} SampleWriter */
