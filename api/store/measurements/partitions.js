import { groupOf } from '../../../schema/ids.js';
import { int32, int64 } from '../cells.js';
import { routingKey } from '../routing.js';

/**
 * One partition of `message`.
 *
 * @typedef {object} Partition
 * @property {Buffer} device 16 bytes
 * @property {number} bucket epoch ms
 * @property {number} part
 * @property {[Buffer, Buffer, Buffer]} key device, bucket and part as CQL bytes
 * @property {Buffer} routing
 */

/** @param {Uint8Array} sensor 16 bytes @param {number} parts more than 1 @returns {number} 1 to `parts` */
export const partOf = (sensor, parts) => 1 + groupOf(sensor, parts);

/**
 * The partitions of the hour that each device was last written to, so that routing keys are made once an hour: by the very
 * Buffer of the device's id, which ingest keeps as long as it knows the device.
 *
 * @returns {(device: Buffer, bucket: number, part: number) => Partition}
 */
export function rememberPartitions() {
  /** @type {WeakMap<Buffer, { bucket: number, parts: Map<number, Partition> }>} */
  const hours = new WeakMap();
  return (device, bucket, part) => {
    let hour = hours.get(device);
    if (hour?.bucket !== bucket) {
      hour = { bucket, parts: new Map() };
      hours.set(device, hour);
    }
    let partition = hour.parts.get(part);
    if (!partition) {
      partition = partitionOf(device, bucket, part);
      hour.parts.set(part, partition);
    }
    return partition;
  };
}

/** @param {Buffer} device 16 bytes @param {number} bucket epoch ms @param {number} part @returns {Partition} */
function partitionOf(device, bucket, part) {
  /** @type {Partition['key']} */
  const key = [device, int64(bucket), int32(part)];
  return { device, bucket, part, key, routing: routingKey(...key) };
}
