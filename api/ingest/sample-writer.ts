import type { SensorBytes } from '../../schema/ids.ts';
import type { Numbers } from '../../schema/packed/series.ts';
import { isLate } from '../../schema/rules.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import type { Store } from '../store/index.ts';
import type { Hour } from '../store/measurements/hours.ts';
import type { CommitStamps } from '../store/sending/stamps.ts';
import type { LateWriter } from './late-samples.ts';
import type { Device, Sensor } from './registry/cache.ts';

/**
 * The samples of one sensor in one message, sorted by time, with one sample per instant. `from` and `to`: see `SensorSeries` of the store.
 */
export type Series = {
  known: Sensor;
  sensor: SensorBytes;
  times: Numbers;
  values: Numbers;
  from?: number;
  to?: number;
};

/** Also writes late samples to history. */
export class SampleWriter {
  #write;
  #stamps;
  #clock;
  #late;

  constructor({
    write,
    stamps,
    clock,
    late,
  }: {
    write: Store['write']['samples'];
    stamps: Pick<CommitStamps, 'stampedAt'>;
    clock: Pick<ClockGuard, 'now'>;
    late: LateWriter;
  }) {
    this.#write = write;
    this.#stamps = stamps;
    this.#clock = clock;
    this.#late = late;
  }

  /** Not async, to save memory: see `pipeline.ts`. @throws `rejected`: the database refuses these samples */
  write(device: Device, series: Series[]): Promise<void> {
    const began = Date.now();
    return this.commit(device, series).then((hours) => this.finish(device, hours, began));
  }

  /**
   * The first step of `write`. A caller with other writes calls `finish` after all of them, and so saves a promise for
   * each message.
   * @throws `rejected`: the database refuses these samples
   */
  commit(device: Device, series: Series[]): Promise<Hour[]> {
    return this.#write(device, series);
  }

  /** `hours` are committed, and `began` is the time before their commit. Returns undefined if no hour is late. */
  finish(device: Device, hours: Hour[], began: number): Promise<void> | undefined {
    // The clock is read after the commit, because a packer that read the hour before may have missed the samples.
    const time = this.#clock.now();
    if (typeof time === 'number') return this.#writeLate(device, hours, began, time);
    return time.then((at) => this.#writeLate(device, hours, began, at));
  }

  /** `now`: time after the commit. Returns undefined if no hour is late. */
  #writeLate(device: Device, hours: Hour[], began: number, now: number): Promise<void> | undefined {
    // Readers compare the write timestamp, which may be ahead of the clock.
    const at = Math.max(now, this.#stamps.stampedAt);
    for (const { bucket } of hours) {
      if (isLate(bucket, at)) return this.#late.write(device, hours, { began: Math.min(began, at), at });
    }
    return undefined;
  }
}
