/**
 * CQL encoding of numbers, and write timestamps. The driver sends Buffers unchanged. Its own encoders look up
 * the type of each value. Measured in a batch of 60 rows: 4.8 µs per row instead of 5.5 µs.
 */
import cassandra from 'cassandra-driver';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.js';

/** @import { Client } from 'cassandra-driver' */

const { timestampGeneration } = cassandra.policies;

/** @param {number} number an integer of at most 53 bits @returns {Buffer} 8 bytes, big-endian: `bigint`, `timestamp` */
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
export const writeTimestamp = (ms) => int64(ms * 1000);

/** Write timestamps by the clock. Each is greater than the previous one, unless the clock was set back. */
export class WriteTimestamps extends timestampGeneration.MonotonicTimestampGenerator {
  #clock;

  /** @param {() => number} [clock] epoch ms */
  constructor(clock = () => Date.now()) {
    // The driver's types require these defaults: a warning for a difference of 1 s, at most once a second.
    super(1000, 1000);
    this.#clock = clock;
  }

  /** @override */
  getDate() {
    return this.#clock();
  }

  /** @override @param {Client} client */
  next(client) {
    // After the clock was ahead, the driver's timestamps would stay in the future for as long as it was
    // ahead.
    if ((this._lastDate ?? 0) - this.#clock() > MOST_CLOCK_DIFFERENCE_MS) this._lastDate = 0;
    return super.next(client);
  }
}
