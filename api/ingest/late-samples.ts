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

/** Limit of sensors of one message whose late samples are written concurrently. */
const SENSORS_AT_ONCE = 16;

/**
 * Creates the writer that copies late samples to the history table. A sample is late if it was committed while its hour
 * was closing, or later. Then the packer, which moves a closed hour to history, may already have read the hour. The
 * samples become separate rows in history, and a mark makes the statistics of the hour inexact until the packer reads
 * the hour again. Rows and mark are committed before the acknowledgement, in any order: the samples are already in
 * `message`, and a packer that finds the mark reads them there.
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
     * @param {Hour[]} hours committed hours of a message
     * @param {{ began: number, at: number }} time time before the commit and after it, in epoch ms; the clock was trusted at `at`
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

/**
 * Groups rows by partition.
 *
 * @template {{ hour: number }} T
 * @param {T[]} rows
 * @param {(hour: number) => number} partitionOf
 * @returns {Iterable<T[]>} the rows of each partition
 */
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

/** Limit of remembered notes of the current hour. Above it the process forgets all of them and writes them again, which changes nothing. */
const MAX_REMEMBERED = 100_000;

/** Writes notes about late samples for the processes that read each hour, and remembers which notes of the current hour are written. */
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
   * Writes notes under the hour in which they are committed. If the database was unavailable, this hour may already be
   * closed, and its readers may have missed the notes. Then the notes are also written under the next hour.
   *
   * @param {number} at epoch ms
   * @param {(noticed: number, now: number) => Promise<void>} write `noticed`: start of the hour in epoch ms; `now`: epoch ms
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
   * Checks whether a note is already written. Remembered notes of another hour are dropped first.
   *
   * @param {number} noticed epoch ms
   * @param {string} key key of a note
   * @returns {boolean} whether the note is known to be committed
   */
  has(noticed, key) {
    if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {
      this.#hour = noticed;
      this.#written = new Set();
    }
    return this.#written.has(key);
  }

  /** Remembers a committed note. @param {number} noticed epoch ms @param {string} key key of the note */
  add(noticed, key) {
    if (noticed === this.#hour) this.#written.add(key);
  }
}

/**
 * Notes days that get samples during or after their second packing pass. Without the note no packer would read the day
 * again, and each query of the day would stay slow. One note is written per hour of the commit, device and day.
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
   * Writes a note for each day that received late samples during or after its second packing pass.
   *
   * @param {{ bytes: Buffer, group: number }} device
   * @param {number[]} hours hours with late samples in history, epoch ms
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

/** Returns days whose second packing pass may have begun. @param {number[]} hours @param {number} now epoch ms @returns {number[]} */
const settledDays = (hours, now) =>
  [...new Set(hours.map(dayOf))].filter((day) => now >= settlingOf(day) - LATE_MARGIN_MS);

/**
 * Notes the hours of devices that got late messages, by the hour in which the messages were committed. Readers of
 * changes and the completion of the Kafka stream read such an hour again. Without the note they would miss the
 * messages. One note is written per hour of the commit, device and hour of the samples.
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
   * @param {Set<number>} buckets late hours of the message, epoch ms
   * @param {{ began: number, at: number }} time time before the commit and after it, in epoch ms
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
