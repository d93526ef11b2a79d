/**
 * CQL encoding of numbers, and write timestamps. The driver sends Buffers unchanged, while its own encoders look up
 * the type of each value. So values are encoded here: in a batch of 60 rows a row takes 4.8 µs instead of 5.5 µs.
 */

import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.ts';

const { timestampGeneration } = cassandra.policies;

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

/** USING TIMESTAMP takes µs. */
export const writeTimestamp = (ms: number): Buffer => int64(ms * 1000);

/** Each timestamp is greater than the previous one, unless the clock was set back. */
export class WriteTimestamps extends timestampGeneration.MonotonicTimestampGenerator {
  /** A private property of the driver's class, without an initial value. */
  declare _lastDate: number | undefined;
  #clock;

  /** @param clock epoch ms */
  constructor(clock: () => number = () => Date.now()) {
    // These are the driver's defaults, which its types require: a warning for a drift of 1 s, at most once a second.
    super(1000, 1000);
    this.#clock = clock;
  }

  override getDate() {
    return this.#clock();
  }

  override next(client: Client) {
    // If the clock was an hour ahead and is set right, the driver's timestamps would stay in the future for an hour.
    if (this.lastMs - this.#clock() > MOST_CLOCK_DIFFERENCE_MS) this._lastDate = 0;
    return super.next(client);
  }

  get lastMs() {
    return this._lastDate ?? 0;
  }
}
