import { someAtOnce } from '../../common/some-at-once.js';
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
 * Writes late samples to history too. A sample is late if it was committed while its hour was closing, or after: the packer may have
 * read the hour before. The samples become rows of their own in history, and a mark makes the statistics of the hour inexact until the
 * packer reads it again. Both are committed before the acknowledgement, in any order. The batches contain the samples already, and a
 * packer that finds the mark reads them.
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
      await someAtOnce(SENSORS_AT_ONCE, sensors, ([sensor, packed]) =>
        writeSensor({ device: device.bytes, sensor }, packed, at),
      );
      const late = hours.map(({ bucket }) => bucket).filter((bucket) => isLate(bucket, at));
      await days.note(device, late);
      await arrivals.note(device, new Set(late), { began, at });
    },
  };
}

/** @typedef {ReturnType<typeof createLateWriter>} LateWriter */

/** @template {{ hour: number }} T @param {T[]} rows @param {(hour: number) => number} partitionOf @returns {Iterable<T[]>} rows of the same partition */
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

/**
 * Notes days that get samples after their second packing pass, or during it. Without the note no packer would read the day again, and
 * each query of it would stay slow. It writes one note per hour, device and day.
 */
export class LateDayNotes {
  #store;
  #retry;
  #clock;
  #hour = 0;
  /** @type {Set<string>} */
  #written = new Set();

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
  }

  /**
   * Writes a note for each settled day that received late samples.
   *
   * @param {{ bytes: Buffer, group: number }} device
   * @param {number[]} hours with late samples in history, epoch ms
   * @returns {Promise<void>} settles when they are committed
   */
  async note(device, hours) {
    // The clock is read after the commit to history, which may have taken hours.
    let now = await this.#clock.now();
    let noticed = bucketOf(now);
    do {
      noticed = bucketOf(now);
      await this.#write(device, noticed, settledDays(hours, now));
      now = await this.#clock.now();
      // Packers may have read the notes of the hour while the database was away. Then the next hour gets it too.
    } while (isLate(noticed, now));
  }

  /**
   * @param {{ bytes: Buffer, group: number }} device
   * @param {number} noticed epoch ms
   * @param {number[]} settled days, epoch ms
   */
  async #write({ bytes, group }, noticed, settled) {
    const id = bytes.toString('hex');
    if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {
      this.#hour = noticed;
      this.#written = new Set();
    }
    const days = settled.filter((day) => !this.#written.has(`${id} ${day}`));
    if (days.length === 0) return;
    const rows = days.map((day) => ({ device: bytes, day }));
    await this.#retry.run(() => this.#store.write(group, noticed, rows));
    if (noticed === this.#hour) for (const day of days) this.#written.add(`${id} ${day}`);
  }
}

/** @param {number[]} hours epoch ms @param {number} now epoch ms @returns {number[]} days, epoch ms */
const settledDays = (hours, now) =>
  [...new Set(hours.map(dayOf))].filter((day) => now >= settlingOf(day) - LATE_MARGIN_MS);

/**
 * Notes the hours of devices that got late messages, by the hour in which they were committed. Readers of changes and the completion of
 * Kafka read such an hour again. Without the note they would miss the messages. It writes one note per hour, device and hour of the
 * samples.
 */
export class LateArrivalNotes {
  #store;
  #retry;
  #clock;
  #hour = 0;
  /** @type {Set<string>} */
  #written = new Set();

  /**
   * @param {object} deps
   * @param {Pick<LateArrivalStore, 'write'>} deps.store
   * @param {Retry} deps.retry
   * @param {Pick<ClockGuard, 'now'>} deps.clock
   */
  constructor({ store, retry, clock }) {
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
  }

  /**
   * Writes the notes of a committed message.
   *
   * @param {{ bytes: Buffer, group: number }} device
   * @param {Set<number>} buckets its late hours, epoch ms
   * @param {{ began: number, at: number }} time epoch ms, before and after the commit
   * @returns {Promise<void>} settles when they are committed
   */
  async note({ bytes, group }, buckets, { began, at }) {
    const since = bucketOf(began);
    let now = at;
    let noticed = bucketOf(now);
    do {
      noticed = bucketOf(now);
      await this.#write(
        group,
        noticed,
        [...buckets].map((bucket) => ({ device: bytes, bucket, since })),
      );
      now = await this.#clock.now();
      // Readers of the hour may have gone on while the database was away. Then the next hour gets the note as well.
    } while (isLate(noticed, now));
  }

  /** @param {number} group @param {number} noticed epoch ms @param {Array<{ device: Buffer, bucket: number, since: number }>} arrivals */
  async #write(group, noticed, arrivals) {
    if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {
      this.#hour = noticed;
      this.#written = new Set();
    }
    await someAtOnce(SENSORS_AT_ONCE, arrivals, async (arrival) => {
      const key = `${arrival.device.toString('latin1')} ${arrival.bucket} ${arrival.since}`;
      if (this.#written.has(key)) return;
      await this.#retry.run(() => this.#store.write(group, noticed, arrival));
      if (noticed === this.#hour) this.#written.add(key);
    });
  }
}
