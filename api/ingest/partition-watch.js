import { PARTITION_WARN } from '../../schema/rules.js';

/**
 * Notices partitions that grow too large: one device's hour past what a server is comfortable with. It warns and
 * counts, once an hour and device, and never refuses: the data is worth more than the warning. Only what this process
 * writes is counted, and only the newest hour of each device.
 *
 * @param {{ logger: import('pino').Logger, onLarge: () => void }} parts
 */
export function createPartitionWatch({ logger, onLarge }) {
  /** By device. @type {WeakMap<object, { bucket: number, parts: Map<number, { rows: number, bytes: number }>, reported: boolean }>} */
  const hours = new WeakMap();

  return {
    /**
     * @param {import('./registry/cache.js').Device} device
     * @param {{ bucket: number, part: number, bytes: number }} hour what is written of it
     * @param {number} rows
     */
    note(device, { bucket, part, bytes }, rows) {
      let hour = hours.get(device);
      if (!hour || bucket > hour.bucket) {
        hour = { bucket, parts: new Map(), reported: false };
        hours.set(device, hour);
      }
      if (bucket !== hour.bucket) return;
      const partition = hour.parts.get(part) ?? { rows: 0, bytes: 0 };
      hour.parts.set(part, partition);
      partition.rows += rows;
      partition.bytes += bytes;
      const isLarge = partition.rows > PARTITION_WARN.rows || partition.bytes > PARTITION_WARN.bytes;
      if (hour.reported || !isLarge) return;
      hour.reported = true;
      onLarge();
      logger.warn({ device: device.id, ...partition }, 'a large partition: let this device batch longer');
    },
  };
}

/** @typedef {ReturnType<typeof createPartitionWatch>} PartitionWatch */
