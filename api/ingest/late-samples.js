import { forEachConcurrently } from '../../common/concurrency.js';
import { packSamples } from '../../schema/packed/pack.js';
import { bucketOf, dayOf, isLate, LATE_MARGIN_MS, settlingOf, yearOf } from '../../schema/rules.js';

/** @import { LateDayStore } from '../store/history/progress.js' */
/** @import { SensorBytes } from '../store/history/keys.js' */
/** @import { HistoryWrites, PackedHour } from '../store/history/writes.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { LateArrivalStore } from '../store/streaming.js' */
/** @import { Hour } from '../store/measurements/hours.js' */
/** @import { Retry } from '../store/sending/retry.js' */

/** Sensors of one message whose late samples are written at once. */
const SENSORS_AT_ONCE = 16;

/**
 * Writes late samples to history too. A sample is late if it was committed while its hour was closing, or
 * later. The packer may already have read the hour. The samples become separate rows in history, and a mark
 * makes the statistics of the hour inexact until the packer reads the hour again. Both are committed before
 * the acknowledgement, in any order. The batches contain the samples already, and a packer that finds the
 * mark reads them.
 *
 * @param {object} deps
 * @param {HistoryWrites} deps.store
 * @param {Retry} deps.retry
 * @param {LateDayNotes} deps.days
 * @param {LateArrivalNotes} deps.arrivals
 * @param {(samples: number) => void} deps.onLate
 */
export function createLateWriter({ store, retry, days, arrivals, onLate }) {
  /** @param {SensorBytes} key @param {PackedHour[]} hours @param {number} at */
  async function writeSensor(key, hours, at) {
    for (const rows of partitions(hours, dayOf)) {
      await retry.run(() => store.writeSamples(key, rows));
    }
    const starts = [...new Set(hours.map(({ hour }) => hour))].map((hour) => ({ hour }));
    for (const rows of partitions(starts, yearOf)) {
      const late = rows.map(({ hour }) => hour);
      await retry.run(() => store.writeLate(key, late, at));
    }
  }

  return {
    /**
     * @param {{ bytes: Buffer, group: number }} device
     * @param {Hour[]} hours of a message, committed
     * @param {{ began: number, at: number }} time epoch ms of a clock that is trusted at `at`: read before the commit, and after it
     * @returns {Promise<void>} settles when the late samples are committed to history
     */
    async write(device, hours, { began, at }) {
      /** @type {Map<Buffer, PackedHour[]>} */
      const sensors = new Map();
      for (const { bucket, pieces } of hours) {
        if (!isLate(bucket, at)) continue;
        for (const { sensor, times, values, from, to } of pieces) {
          onLate(to - from);
          const samples = packSamples(bucket, times, values, from, to);
          const packed = sensors.get(sensor);
          if (packed) packed.push({ hour: bucket, samples });
          else sensors.set(sensor, [{ hour: bucket, samples }]);
        }
      }
      await forEachConcurrently(SENSORS_AT_ONCE, sensors, ([sensor, packed]) =>
        writeSensor({ device: device.bytes, sensor }, packed, at),
      );
      const late = hours.map(({ bucket }) => bucket).filter((bucket) => isLate(bucket, at));
      await days.note(device, late);
      await arrivals.note(device, new Set(late), { began, at });
    },
  };
}

/** @typedef {ReturnType<typeof createLateWriter>} LateWriter */

/** @template {{ hour: number }} T @param {T[]} rows @param {(hour: number) => number} partitionOf @returns {Iterable<T[]>} the rows of each partition */
export function partitions(rows, partitionOf) {
  /** @type {Map<number, T[]>} */
  const found = new Map();
  for (const row of rows) {
    const partition = partitionOf(row.hour);
    const list = found.get(partition);
    if (list) list.push(row);
    else found.set(partition, [row]);
  }
  return found.values();
}

/** Notes of the current hour that this process remembers. Above this limit it writes notes again, which changes nothing. */
const MAX_REMEMBERED = 100_000;

/** Writes notes for readers of an hour, and remembers those of the current hour. */
class HourNotes {
  #clock;
  #hour = 0;
  /** @type {Set<string>} */
  #written = new Set();

  /** @param {Pick<ClockGuard, 'now'>} clock */
  constructor(clock) {
    this.#clock = clock;
  }

  /**
   * Writes notes for the hour in which they are committed. While the database was unavailable, the readers of
   * an hour may have moved on to the next hour. Then the next hour gets the notes as well.
   *
   * @param {number} at epoch ms
   * @param {(noticed: number, now: number) => Promise<void>} write `noticed`: the hour; both in epoch ms
   */
  async writeAt(at, write) {
    let now = at;
    let noticed;
    do {
      noticed = bucketOf(now);
      await write(noticed, now);
      now = await this.#clock.now();
    } while (isLate(noticed, now));
  }

  /**
   * Whether a note is already written. Remembered notes of another hour are dropped first.
   *
   * @param {number} noticed epoch ms
   * @param {string} key of a note
   * @returns {boolean} whether the note is known to be committed
   */
  has(noticed, key) {
    if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {
      this.#hour = noticed;
      this.#written = new Set();
    }
    return this.#written.has(key);
  }

  /** @param {number} noticed epoch ms @param {string} key of a note that is committed */
  add(noticed, key) {
    if (noticed === this.#hour) this.#written.add(key);
  }
}

/**
 * Notes days that get samples during or after their second packing pass. Without the note no packer would
 * read the day again, and each query of it would stay slow. One note is written per hour, device and day.
 */
export class LateDayNotes {
  #store;
  #retry;
  #clock;
  #notes;

  /**
   * @param {object} deps
   * @param {Pick<LateDayStore, 'write'>} deps.store
   * @param {Retry} deps.retry
   * @param {Pick<ClockGuard, 'now'>} deps.clock
   */
  constructor({ store, retry, clock }) {
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
    this.#notes = new HourNotes(clock);
  }

  /**
   * Writes a note for each settled day that received late samples.
   *
   * @param {{ bytes: Buffer, group: number }} device
   * @param {number[]} hours with late samples in history, epoch ms
   * @returns {Promise<void>} settles when the notes are committed
   */
  async note({ bytes, group }, hours) {
    const id = bytes.toString('latin1');
    // The clock is read after the commit to history, because the commit may have taken hours.
    await this.#notes.writeAt(await this.#clock.now(), async (noticed, now) => {
      const isNew = (/** @type {number} */ day) => !this.#notes.has(noticed, `${id} ${day}`);
      const days = settledDays(hours, now).filter(isNew);
      if (days.length === 0) return;
      const rows = days.map((day) => ({ device: bytes, day }));
      await this.#retry.run(() => this.#store.write(group, noticed, rows));
      for (const day of days) this.#notes.add(noticed, `${id} ${day}`);
    });
  }
}

/** @param {number[]} hours epoch ms @param {number} now epoch ms @returns {number[]} days, epoch ms */
const settledDays = (hours, now) =>
  [...new Set(hours.map(dayOf))].filter((day) => now >= settlingOf(day) - LATE_MARGIN_MS);

/**
 * Notes the hours of devices that got late messages, by the hour in which they were committed. Readers of
 * changes and the completion of Kafka read such an hour again. Without the note they would miss the messages.
 * One note is written per hour, device and hour of the samples.
 */
export class LateArrivalNotes {
  #store;
  #retry;
  #notes;

  /**
   * @param {object} deps
   * @param {Pick<LateArrivalStore, 'write'>} deps.store
   * @param {Retry} deps.retry
   * @param {Pick<ClockGuard, 'now'>} deps.clock
   */
  constructor({ store, retry, clock }) {
    this.#store = store;
    this.#retry = retry;
    this.#notes = new HourNotes(clock);
  }

  /**
   * Writes the notes of a committed message.
   *
   * @param {{ bytes: Buffer, group: number }} device
   * @param {Set<number>} buckets its late hours, epoch ms
   * @param {{ began: number, at: number }} time epoch ms, before and after the commit
   * @returns {Promise<void>} settles when the notes are committed
   */
  async note({ bytes, group }, buckets, { began, at }) {
    const since = bucketOf(began);
    const id = bytes.toString('latin1');
    await this.#notes.writeAt(at, (noticed) =>
      forEachConcurrently(SENSORS_AT_ONCE, buckets, async (bucket) => {
        const key = `${id} ${bucket} ${since}`;
        if (this.#notes.has(noticed, key)) return;
        await this.#retry.run(() => this.#store.write(group, noticed, { device: bytes, bucket, since }));
        this.#notes.add(noticed, key);
      }),
    );
  }
}
