import { forEachConcurrently } from '../../common/concurrency.ts';
import type { DeviceBytes, SensorBytes } from '../../schema/ids.ts';
import { packUndo, revisionRows } from '../../schema/packed/revision.ts';
import type { Series, Span } from '../../schema/packed/series.ts';
import { bucketOf, DAY_MS, dayOf, PURGE_DAYS, yearOf } from '../../schema/rules.ts';
import type { ClockGuard } from '../store/clock-guard.ts';
import type { LateDayStore } from '../store/history/progress.ts';
import type { HistoryWrites, PackedHour } from '../store/history/writes.ts';
import type { Retry } from '../store/sending/retry.ts';
import { type LateDayNotes, partitions } from './late-samples.ts';

/** What a correction changes in one hour: it removes spans, and then gives instants their values. Times are epoch ms. */
export interface RevisedHour {
  hour: number;
  /** ascending and disjoint */
  spans: Span[];
  /** sorted; may be empty */
  samples: Series;
  /** an earlier revision; then there are neither spans nor samples */
  undoes?: number;
}

type Revised = { sensor: SensorBytes; hours: RevisedHour[] };

/** Writes of one correction. */
const SENSORS_AT_ONCE = 4;
const DAYS_AT_ONCE = 4;

/**
 * In ms. A reader trusts statistics whose reading began more than `LATE_MARGIN_MS` after the mark, and two clocks differ by two minutes at
 * most. So a mark that is this much older than the end of the commit still makes all readers read the rows.
 */
const MARK_HOLDS_MS = 60_000;

/**
 * Corrections are rows of history with a revision, also for an hour that is still open, because the rows of `message` have no revision. The
 * mark of the hour comes first. If the process ends before the acknowledgement, all readers see the rows, or none does.
 */
export class RevisionWriter {
  #deps;
  #last = 0;

  constructor(deps: {
    store: HistoryWrites;
    retry: Pick<Retry, 'run'>;
    clock: Pick<ClockGuard, 'now'>;
    days: LateDayNotes;
    lateDays: Pick<LateDayStore, 'writeCorrected'>;
  }) {
    this.#deps = deps;
  }

  /** Epoch ms by the trusted clock. */
  now = async (): Promise<number> => this.#deps.clock.now();

  /** Epoch µs of an acceptance by the trusted clock, greater than all before in this process, and than `after`. */
  async next(after: number = 0): Promise<number> {
    const now = await this.now();
    this.#last = Math.max(this.#last + 1, after + 1, Math.floor(now * 1000));
    return this.#last;
  }

  /**
   * A repetition with the same `revision` changes nothing. `check`: runs before each attempt to write rows, and may throw
   * @returns settles when all readers see the correction
   */
  async write(
    device: { bytes: DeviceBytes; group: number },
    revision: number,
    sensors: Revised[],
    check: () => Promise<void> = async () => {},
  ) {
    const hours = [...new Set(sensors.flatMap((one) => one.hours.map(({ hour }) => hour)))];
    // Before the rows, so that the days are packed again even if the process ends. A commit that takes longer is noted again.
    await this.#deps.days.note(device, hours);
    await this.#notePurge(device, hours);
    await forEachConcurrently(SENSORS_AT_ONCE, sensors, (one) =>
      this.#writeSensor({ device: device.bytes, sensor: one.sensor }, revision, one.hours, check),
    );
    await this.#deps.days.note(device, hours);
  }

  /** Then a packer deletes what this correction hides. */
  async #notePurge({ bytes, group }: { bytes: DeviceBytes; group: number }, hours: number[]) {
    const { lateDays, retry, clock } = this.#deps;
    const at = await clock.now();
    const days = [...new Set(hours.map(dayOf))].map((day) => ({ device: bytes, day }));
    await retry.run(() => lateDays.writeCorrected(group, bucketOf(at + PURGE_DAYS * DAY_MS), days));
  }

  async #writeSensor(
    key: { device: DeviceBytes; sensor: SensorBytes },
    at: number,
    hours: RevisedHour[],
    check: () => Promise<void>,
  ) {
    const { store, retry, clock } = this.#deps;
    let markedAt = await clock.now();
    await this.#mark(key, hours, markedAt);
    const renewMark = async () => {
      const now = await clock.now();
      if (now - markedAt <= MARK_HOLDS_MS) return;
      await this.#mark(key, hours, now);
      markedAt = now;
    };
    await forEachConcurrently(DAYS_AT_ONCE, partitions(hours, dayOf), async (day) => {
      const rows = day.flatMap((hour) => rowsOf(hour, at));
      // A packer may have read the hour without these rows while the database was unavailable. If this process ended after the commit, its
      // statistics would stay exact for readers.
      await retry.run(async () => {
        await renewMark();
        await check();
        await store.writeSamples(key, rows);
      });
    });
    await renewMark();
  }

  async #mark(
    key: { device: DeviceBytes; sensor: SensorBytes },
    hours: RevisedHour[],
    at: number,
  ): Promise<void> {
    const { store, retry } = this.#deps;
    for (const year of partitions(hours, yearOf)) {
      const marked = year.map(({ hour }) => hour);
      await retry.run(() => store.writeLate(key, marked, at));
    }
  }
}

function rowsOf({ hour, spans, samples, undoes }: RevisedHour, at: number): PackedHour[] {
  const blobs = undoes === undefined ? revisionRows(hour, { at, spans }, samples) : [packUndo(at, undoes)];
  return blobs.map((blob) => ({ hour, samples: blob }));
}
