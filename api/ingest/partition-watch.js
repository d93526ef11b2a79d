import { PARTITION_WARN } from '../../schema/rules.js';

/**
 * Notices partitions that grow too large: one device's hour past what a server is comfortable with. It warns and
 * counts, once an hour and device, and never refuses: the data is worth more than the warning. Only what this process
 * writes is counted, and only the newest hour of each device.
 *
 * @param {{ logger: import('pino').Logger, onLarge: () => void }} parts
 */
export function createPartitionWatch({ logger, onLarge }) {
  /** @type {WeakMap<object, { bucket: number, rows: number, bytes: number, told: boolean }>} by device */
  const hours = new WeakMap();

  return {
    /**
     * @param {import('./registry/cache.js').Device} device
     * @param {import('../store/measurements/writes.js').HourWrite} write
     */
    note(device, { bucket, queries, bytes }) {
      let hour = hours.get(device);
      if (!hour || bucket > hour.bucket) {
        hour = { bucket, rows: 0, bytes: 0, told: false };
        hours.set(device, hour);
      }
      if (bucket !== hour.bucket) return;
      hour.rows += queries.length;
      hour.bytes += bytes;
      if (hour.told || (hour.rows <= PARTITION_WARN.rows && hour.bytes <= PARTITION_WARN.bytes)) return;
      hour.told = true;
      onLarge();
      const { rows } = hour;
      logger.warn(
        { device: device.id, rows, bytes: hour.bytes },
        'a large partition: let this device batch longer',
      );
    },
  };
}

/** @typedef {ReturnType<typeof createPartitionWatch>} PartitionWatch */
