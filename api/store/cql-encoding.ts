/**
 * CQL encoding of numbers, and write timestamps. The driver sends Buffers unchanged, while its own encoders look up
 * the type of each value. So values are encoded here: in a batch of 60 rows a row takes 4.8 µs instead of 5.5 µs.
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

/** Encodes a value of USING TIMESTAMP. @param {number} ms epoch ms @returns {Buffer} epoch µs, 8 bytes */
export const writeTimestamp = (ms) => int64(ms * 1000);

/** Generates write timestamps. Each timestamp is greater than the previous timestamp, unless the clock was set back. */
export class WriteTimestamps extends timestampGeneration.MonotonicTimestampGenerator {
  #clock;

  /** @param {() => number} [clock] epoch ms */
  constructor(clock = () => Date.now()) {
    // These are the driver's defaults, which its types require: a warning for a drift of 1 s, at most once a second.
    super(1000, 1000);
    this.#clock = clock;
  }

  /** @override */
  getDate() {
    return this.#clock();
  }

  /** @override @param {Client} client */
  next(client) {
    // If the clock was an hour ahead and is set right, the driver's timestamps would stay in the future for an hour.
    if (this.lastMs - this.#clock() > MOST_CLOCK_DIFFERENCE_MS) this._lastDate = 0;
    return super.next(client);
  }

  /** The last timestamp in epoch ms; 0: none. */
  get lastMs() {
    return this._lastDate ?? 0;
  }
}
