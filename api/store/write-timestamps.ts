/** Write timestamps. A time in ms where CQL expects µs would lose against every other write, so µs have a type of their own. */

import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.ts';
import { int64 } from './cql-encoding.ts';

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
