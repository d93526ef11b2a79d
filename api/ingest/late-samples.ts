import { forEachConcurrently } from '../../common/concurrency.ts';
import type { DeviceBytes, SensorBytes } from '../../schema/ids.ts';
import { packSamples } from '../../schema/packed/pack.ts';
import { bucketOf, dayOf, isLate, LATE_MARGIN_MS, settlingOf, yearOf } from '../../schema/rules.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import type { SensorKey } from '../store/history/keys.ts';
import type { LateDayStore } from '../store/history/progress.ts';
import type { HistoryWrites, PackedHour } from '../store/history/writes.ts';
import type { LateArrivalStore } from '../store/late-arrivals.ts';
import type { Hour } from '../store/measurements/hours.ts';
import type { Retry } from '../store/sending/retry.ts';

/** Limit of concurrent writes for one message. */
const SENSORS_AT_ONCE = 16;

/**
 * A sample is late if it was committed while its hour was closing, or later. Then the packer, which moves a closed hour
 * to history, may already have read the hour. The samples become separate rows in history, and a mark makes the
 * statistics of the hour inexact until the packer reads the hour again. Rows and mark are committed in any order: the
 * samples are already in `message`, and a packer that finds the mark reads them there.
 */
export function createLateWriter({
  store,
  retry,
  days,
  arrivals,
  onLate,
}: {
  store: HistoryWrites;
  retry: Pick<Retry, 'run'>;
  days: LateDayNotes;
  arrivals: LateArrivalNotes;
  onLate: (samples: number) => void;
}) {
  async function writeSensor(key: SensorKey, hours: PackedHour[], at: number) {
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
    /** Settles when the late samples are committed to history. `time`: before the commit and after it (`at`, by the trusted clock). */
    async write(
      device: { bytes: DeviceBytes; group: number },
      hours: Hour[],
      { began, at }: { began: number; at: number },
    ): Promise<void> {
      const sensors: Map<SensorBytes, PackedHour[]> = new Map();
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

export type LateWriter = ReturnType<typeof createLateWriter>;

export function partitions<T extends { hour: number }>(
  rows: T[],
  partitionOf: (hour: number) => number,
): Iterable<T[]> {
  const found: Map<number, T[]> = new Map();
  for (const row of rows) {
    const partition = partitionOf(row.hour);
    const list = found.get(partition);
    if (list) list.push(row);
    else found.set(partition, [row]);
  }
  return found.values();
}

/** At the limit, the process forgets all of them and writes them again, which changes nothing. */
const MAX_REMEMBERED = 100_000;

/** Notes about late samples for the processes that read each hour. */
class HourNotes {
  #clock;
  #hour = 0;
  #written: Set<string> = new Set();

  constructor(clock: Pick<ClockGuard, 'now'>) {
    this.#clock = clock;
  }

  /**
   * The note is written under the hour of its commit. If the database was unavailable, this hour may already be closed,
   * and its readers may have missed the note. Then it is also written under the next hour.
   */
  async writeAt(at: number, write: (noticed: number, now: number) => Promise<void>) {
    let now = at;
    let noticed: number;
    do {
      noticed = bucketOf(now);
      await write(noticed, now);
      now = await this.#clock.now();
    } while (isLate(noticed, now));
  }

  /** Remembered notes of another hour are dropped first. */
  has(noticed: number, key: string): boolean {
    if (noticed !== this.#hour || this.#written.size > MAX_REMEMBERED) {
      this.#hour = noticed;
      this.#written = new Set();
    }
    return this.#written.has(key);
  }

  add(noticed: number, key: string) {
    if (noticed === this.#hour) this.#written.add(key);
  }
}

/**
 * Days that get samples during or after their second packing pass. Without the note no packer would read the day again,
 * and each query of the day would stay slow. One note is written per hour of the commit, device and day.
 */
export class LateDayNotes {
  #store;
  #retry;
  #clock;
  #notes;

  constructor({
    store,
    retry,
    clock,
  }: {
    store: Pick<LateDayStore, 'write'>;
    retry: Pick<Retry, 'run'>;
    clock: Pick<ClockGuard, 'now'>;
  }) {
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
    this.#notes = new HourNotes(clock);
  }

  /** `hours` have late samples in history. */
  async note({ bytes, group }: { bytes: DeviceBytes; group: number }, hours: number[]): Promise<void> {
    const id = bytes.toString('latin1');
    // The clock is read after the commit to history, because the commit may have taken hours.
    await this.#notes.writeAt(await this.#clock.now(), async (noticed, now) => {
      const isNew = (day: number) => !this.#notes.has(noticed, `${id} ${day}`);
      const days = settledDays(hours, now).filter(isNew);
      if (days.length === 0) return;
      const rows = days.map((day) => ({ device: bytes, day }));
      await this.#retry.run(() => this.#store.write(group, noticed, rows));
      for (const day of days) this.#notes.add(noticed, `${id} ${day}`);
    });
  }
}

/** Their second packing pass may have begun. */
const settledDays = (hours: number[], now: number): number[] =>
  [...new Set(hours.map(dayOf))].filter((day) => now >= settlingOf(day) - LATE_MARGIN_MS);

/**
 * Hours that got late messages, by the hour of their commit. Readers of changes, and features that stream, read such an
 * hour again. Without the note they would miss the messages. One note is written per hour of the commit, device and
 * hour of the samples.
 */
export class LateArrivalNotes {
  #store;
  #retry;
  #notes;

  constructor({
    store,
    retry,
    clock,
  }: {
    store: Pick<LateArrivalStore, 'write'>;
    retry: Pick<Retry, 'run'>;
    clock: Pick<ClockGuard, 'now'>;
  }) {
    this.#store = store;
    this.#retry = retry;
    this.#notes = new HourNotes(clock);
  }

  /** `buckets`: late hours of a committed message */
  async note(
    { bytes, group }: { bytes: DeviceBytes; group: number },
    buckets: Set<number>,
    { began, at }: { began: number; at: number },
  ): Promise<void> {
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
