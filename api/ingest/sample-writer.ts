import type { Numbers } from '../../schema/packed/series.ts';
import { isLate } from '../../schema/rules.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import type { Store } from '../store/index.ts';
import type { Hour } from '../store/measurements/hours.ts';
import type { LateWriter } from './late-samples.ts';
import type { Device, Sensor } from './registry/cache.ts';

/**
 * The samples of one sensor in one message, sorted by time, with one sample per instant. `from` and `to`: see `SensorSeries` of the store.
 */
export type Series = {
  known: Sensor;
  sensor: Buffer;
  times: Numbers;
  values: Numbers;
  from?: number;
  to?: number;
};

/** Commits samples, and also writes late samples to history. */
export class SampleWriter {
  #write;
  #marks;
  #clock;
  #late;

  constructor({
    write,
    marks,
    clock,
    late,
  }: {
    write: Store['write']['samples'];
    /** `stampedAt`: greatest write timestamp, in epoch ms */
    marks: { stampedAt: number };
    clock: Pick<ClockGuard, 'now'>;
    late: LateWriter;
  }) {
    this.#write = write;
    this.#marks = marks;
    this.#clock = clock;
    this.#late = late;
  }

  /**
   * Writes the samples of a message. The function is not async, to save memory: see `pipeline.ts`.
   * @returns settles when all samples are committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  write(device: Device, series: Series[]): Promise<void> {
    const began = Date.now();
    return this.commit(device, series).then((hours) => this.finish(device, hours, began));
  }

  /**
   * Commits the samples of a message by hour, which is the first step of `write`. A caller with other writes calls
   * `finish` after all its writes, and so saves a promise for each message.
   * @returns settles when the hours of the message are committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  commit(device: Device, series: Series[]): Promise<Hour[]> {
    return this.#write(device, series);
  }

  /**
   * Writes the late samples of a message into history.
   * @param hours committed hours of a message
   * @param began time before the commit, in epoch ms
   * @returns settles when the late samples are committed; undefined: no hour is late
   */
  finish(device: Device, hours: Hour[], began: number): Promise<void> | undefined {
    // The clock is read after the commit, because a packer that read the hour before may have missed the samples.
    const time = this.#clock.now();
    if (typeof time === 'number') return this.#writeLate(device, hours, began, time);
    return time.then((at) => this.#writeLate(device, hours, began, at));
  }

  /**
   * @param hours committed hours of a message
   * @param began time before the commit, in epoch ms
   * @param now time after the commit, in epoch ms
   * @returns undefined: no hour is late
   */
  #writeLate(device: Device, hours: Hour[], began: number, now: number): Promise<void> | undefined {
    // Readers compare the write timestamp, which may be ahead of the clock.
    const at = Math.max(now, this.#marks.stampedAt);
    for (const { bucket } of hours) {
      if (isLate(bucket, at)) return this.#late.write(device, hours, { began: Math.min(began, at), at });
    }
    return undefined;
  }
}
