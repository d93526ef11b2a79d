import { int64 } from '../cells.js';
import { routingKey } from '../routing.js';

/**
 * One hour of a device.
 *
 * @typedef {object} Partition
 * @property {Buffer} device 16 bytes
 * @property {number} bucket epoch ms
 * @property {Buffer} cell the bucket's CQL bytes
 * @property {Buffer} routing
 */

/**
 * The partition that each device was last written to, so that where it lives is found once an hour: by the very Buffer
 * of the device's id, which ingest keeps as long as it knows the device.
 *
 * @returns {(device: Buffer, bucket: number) => Partition}
 */
export function rememberPartitions() {
  /** @type {WeakMap<Buffer, Partition>} */
  const partitions = new WeakMap();
  return (device, bucket) => {
    const known = partitions.get(device);
    if (known?.bucket === bucket) return known;
    const cell = int64(bucket);
    const partition = { device, bucket, cell, routing: routingKey(device, cell) };
    partitions.set(device, partition);
    return partition;
  };
}
