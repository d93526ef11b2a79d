import { isLate } from '../../schema/rules.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Numbers } from '../../schema/packed/series.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Hour } from '../store/measurements/hours.js' */
/** @import { LateWriter } from './late-samples.js' */
/** @import { Device, Sensor } from './registry/cache.js' */

/**
 * The samples of one sensor in one message, sorted by time, with one sample per instant. `from` and `to`: see `SensorSeries` of the store.
 *
 * @typedef {{ known: Sensor, sensor: Buffer, times: Numbers, values: Numbers, from?: number, to?: number }} Series
 */

/** Commits samples, and also writes late samples to history. */
export class SampleWriter {
  #write;
  #marks;
  #clock;
  #late;

  /**
   * @param {object} deps
   * @param {Store['write']['samples']} deps.write
   * @param {{ stampedAt: number }} deps.marks `stampedAt`: greatest write timestamp, in epoch ms
   * @param {Pick<ClockGuard, 'now'>} deps.clock
   * @param {LateWriter} deps.late
   */
  constructor({ write, marks, clock, late }) {
    this.#write = write;
    this.#marks = marks;
    this.#clock = clock;
    this.#late = late;
  }

  /**
   * Writes the samples of a message. The function is not async, to save memory: see `pipeline.js`.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @returns {Promise<void>} settles when all samples are committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  write(device, series) {
    const began = Date.now();
    return this.commit(device, series).then((hours) => this.finish(device, hours, began));
  }

  /**
   * Commits the samples of a message by hour, which is the first step of `write`. A caller with other writes calls
   * `finish` after all its writes, and so saves a promise for each message.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @returns {Promise<Hour[]>} settles when the hours of the message are committed
   * @throws {MillraceError} `rejected`: the database refuses these samples
   */
  commit(device, series) {
    return this.#write(device, series);
  }

  /**
   * Writes the late samples of a message into history.
   *
   * @param {Device} device
   * @param {Hour[]} hours committed hours of a message
   * @param {number} began time before the commit, in epoch ms
   * @returns {Promise<void> | undefined} settles when the late samples are committed; undefined: no hour is
   *   late
   */
  finish(device, hours, began) {
    // The clock is read after the commit, because a packer that read the hour before may have missed the samples.
    const time = this.#clock.now();
    if (typeof time === 'number') return this.#writeLate(device, hours, began, time);
    return time.then((at) => this.#writeLate(device, hours, began, at));
  }

  /**
   * @param {Device} device
   * @param {Hour[]} hours committed hours of a message
   * @param {number} began time before the commit, in epoch ms
   * @param {number} now time after the commit, in epoch ms
   * @returns {Promise<void> | undefined} undefined: no hour is late
   */
  #writeLate(device, hours, began, now) {
    // Readers compare the write timestamp, which may be ahead of the clock.
    const at = Math.max(now, this.#marks.stampedAt);
    for (const { bucket } of hours) {
      if (isLate(bucket, at)) return this.#late.write(device, hours, { began: Math.min(began, at), at });
    }
    return undefined;
  }
}
