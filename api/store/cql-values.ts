import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.ts';

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

/** Write timestamps. A time in ms where CQL expects µs would lose against every other write, so µs have a type of their own. */

const { timestampGeneration } = cassandra.policies;

declare const brand: unique symbol;

/** A write timestamp in epoch µs. */
export type Stamp = number & { readonly [brand]: 'Stamp' };

/** A write timestamp as `USING TIMESTAMP` takes it. */
export type WriteStamp = Buffer & { readonly [brand]: 'WriteStamp' };

export const stampOf = (ms: number): Stamp => (ms * 1000) as Stamp;

export const stampAfter = (stamp: Stamp, micros: number): Stamp => (stamp + micros) as Stamp;

export const greaterStamp = (a: Stamp, b: Stamp): Stamp => (a > b ? a : b);

/** @param value a cell of `WRITETIME`, or a timestamp of the driver */
export const readStamp = (value: unknown): Stamp => Number(value) as Stamp;

export const msOfStamp = (stamp: Stamp): number => Math.floor(stamp / 1000);

export const encodeStamp = (stamp: Stamp): WriteStamp => int64(stamp) as WriteStamp;

export const writeTimestamp = (ms: number): WriteStamp => encodeStamp(stampOf(ms));

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

const { types } = cassandra;

/** UUID of version 1 (RFC 9562, section 5.1). Rows that belong to an instant have such ids. */
const TIMEUUID = /^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const newTimeId = (ms: number): Buffer => types.TimeUuid.fromDate(new Date(ms)).getBuffer();

/** @returns null: the text is no timeuuid */
export const parseTimeId = (text: string): Buffer | null =>
  TIMEUUID.test(text) ? types.TimeUuid.fromString(text).getBuffer() : null;

export const timeOfId = (id: Buffer): number => new types.TimeUuid(id).getDate().getTime();

/** Sorts before every id of this instant, and after every earlier id. */
export const firstIdOf = (ms: number): Buffer => types.TimeUuid.min(new Date(ms), 0).getBuffer();
