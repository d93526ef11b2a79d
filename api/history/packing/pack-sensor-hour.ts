import { MillraceError } from '../../../common/errors.ts';
import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import { encodeHour } from '../../../schema/packed/hour/encode-hour.ts';
import { digestOf } from '../../../schema/packed/pack.ts';
import { packBundle, packUndo, revisionRows } from '../../../schema/packed/revision.ts';
import {
  isRevised,
  joinCorrections,
  mergeSeries,
  type Series,
  sortMerge,
  withoutHidden,
} from '../../../schema/packed/series.ts';
import { hourStatisticsOf } from '../../../schema/packed/statistics.ts';
import {
  DAY_MS,
  MAX_SAMPLES_PER_HISTORY_ROW,
  MAX_STATEMENTS_PER_BATCH,
  PURGE_DAYS,
} from '../../../schema/rules.ts';
import type { Steps } from '../../background/index.ts';
import type { StoredSeries } from '../../store/history/unpacked.ts';
import type { Store } from '../../store/index.ts';

type SensorHour = { device: DeviceBytes; sensor: SensorBytes; hour: number };
/** Without `sensor`: the whole device. */
export type DeviceHour = { device: DeviceBytes; sensor?: SensorBytes; hour: number };

export interface PackingObserver {
  onPacked: (samples: number) => void;
  /** this process cannot read some rows */
  onUnreadable: (key: DeviceHour, rows: number) => void;
  /** an hour cannot be packed, even by a repetition */
  onRefused: (key: SensorHour, error: unknown) => void;
}

/**
 * Merges the samples of the table `message` ("batches") with the samples in history into one row, and then writes the
 * statistics. The order matters: a reader that sees statistics must find all of their samples in history.
 */
export function createSensorPacker({
  store,
  steps,
  observer,
}: {
  store: Store['packing'];
  steps: Steps;
  observer: PackingObserver;
}) {
  async function writeSamples(key: SensorHour, whole: Series, known: Series[]) {
    // If history already has an equal row, nothing is written. The row is safe, because later quorum reads also return a row that one
    // quorum read has returned.
    if (whole.times.length === 0 || known.some((row) => isSame(row, whole))) return;
    for (const samples of historyRows(key.hour, whole)) {
      await steps.run(() => store.writeSamples(key, [{ hour: key.hour, samples }]));
    }
  }

  /** Writes `blobs`, and then deletes the other rows of `replaced`. */
  async function replaceRows(key: SensorHour, replaced: ReadableSeries[], blobs: Buffer[], readFrom: number) {
    const known = new Set(replaced.map(({ digest }) => digest.toString('hex')));
    for (const samples of blobs)
      if (!known.delete(digestOf(samples).toString('hex')))
        await steps.run(() => store.writeSamples(key, [{ hour: key.hour, samples }]));
    const isKnown = ({ digest }: ReadableSeries) => known.has(digest.toString('hex'));
    const [plain, corrections] = [false, true].map((revised) => [
      ...new Map(
        replaced
          .filter((row) => isRevised(row) === revised && isKnown(row))
          .map(({ digest }) => [digest.toString('hex'), digest]),
      ).values(),
    ]) as [Buffer[], Buffer[]];
    for (let from = 0; from < plain.length; from += MAX_STATEMENTS_PER_BATCH) {
      const some = plain.slice(from, from + MAX_STATEMENTS_PER_BATCH);
      await steps.run(() => store.deleteSamples(key, key.hour, some, readFrom));
    }
    // In one mutation: if an undo went first, and the packer ended, its correction would be seen again.
    if (corrections.length > 0)
      await steps.run(() => store.deleteSamples(key, key.hour, corrections, readFrom));
  }

  /** The samples of plain rows without the hidden ones are written before. @returns corrections in rows that stay */
  async function deleteHidden(
    key: SensorHour,
    known: ReadableSeries[],
    deletable: ReadableSeries[],
    readFrom: number,
  ) {
    const joined = joinCorrections(deletable);
    const blobs = joined ? revisionRows(key.hour, joined.revision, joined) : [];
    const hidden = known.filter((row) => !isRevised(row) && withoutHidden(row, deletable) !== row);
    // A bundle may also have corrections that stay.
    const digests = new Set(deletable.map(({ digest }) => digest.toString('hex')));
    const others = known.filter((row) => digests.has(row.digest.toString('hex')) && !deletable.includes(row));
    blobs.push(...bundles(others.map((row) => blobOf(key.hour, row))));
    await replaceRows(key, [...hidden, ...deletable], blobs, readFrom);
    return known.filter((row) => isRevised(row) && !digests.has(row.digest.toString('hex')));
  }

  /** A device may correct a value each second. */
  async function bundle(key: SensorHour, corrections: ReadableSeries[], readFrom: number) {
    const small = corrections.map((row) => ({ row, blob: blobOf(key.hour, row) })).filter(isSmall);
    if (new Set(small.map(({ row }) => row.digest.toString('hex'))).size <= MAX_CORRECTION_ROWS) return;
    const rows = small.map(({ row }) => row);
    await replaceRows(key, rows, bundles(small.map(({ blob }) => blob)), readFrom);
  }

  async function packWhole(key: SensorHour, batches: Series, readFrom: number, unreadableBatches: number) {
    const history = await steps.run(() => store.historyHour(key, key.hour));
    const known = history.filter(isReadable);
    const unreadable = unreadableBatches + history.length - known.length;
    if (history.length > known.length) observer.onUnreadable(key, history.length - known.length);
    if (unreadable > 0) {
      // The hour is marked as late. So readers do not trust the statistics, and the second pass packs the hour again.
      await steps.run(() => store.writeLate(key, [key.hour], readFrom));
    }
    const plain = known.filter((row) => !isRevised(row));
    const corrections = known.filter(isRevised);
    // An unreadable row may be an undo.
    const deletable = unreadable > 0 ? [] : deletableCorrections(corrections, readFrom);
    const merged = mergeSeries([sortMerge(batches.times, batches.values), ...plain]);
    const uncorrected = deletable.length === 0 ? merged : withoutHidden(merged, deletable);
    if (uncorrected.times.length === 0 && corrections.length === 0) return false;
    await writeSamples(key, uncorrected, plain);
    const rest = deletable.length > 0 ? await deleteHidden(key, known, deletable, readFrom) : corrections;
    if (unreadable === 0) await bundle(key, rest, readFrom);
    // No statistics are written if batches are unreadable. With statistics, readers would take history for complete.
    // Without statistics, processes that can decode the batches read them as well.
    if (unreadableBatches > 0) return false;
    // Corrections stay rows of their own, because an old message that is repeated must not undo them.
    const whole = corrections.length === 0 ? uncorrected : mergeSeries([uncorrected, ...corrections]);
    const statistics = hourStatisticsOf(whole.values);
    const times = { firstAt: whole.times[0] ?? key.hour, lastAt: whole.times.at(-1) ?? key.hour };
    await steps.run(() => store.writeStatistics(key, key.hour, { ...statistics, ...times }, readFrom));
    observer.onPacked(whole.times.length);
    return true;
  }

  return {
    /**
     * An hour that cannot be packed stops its group of devices, and each check packs it again. No sample is lost while its batches exist.
     * After an operator has fixed the reason, the group catches up. Skipping the hour would lose its samples.
     * @param batches samples of `message` in any order; a time may occur more than once
     * @param readFrom epoch ms at which the read of the batches began
     * @param unreadable number of unreadable rows of `message` that may contain more samples of this hour
     * @returns settles when all readable samples are committed; true: their statistics were written
     * @throws `unavailable` when packing ends; `rejected`; any defect of the program
     */
    async pack(key: SensorHour, batches: Series, readFrom: number, unreadable: number): Promise<boolean> {
      try {
        return await packWhole(key, batches, readFrom, unreadable);
      } catch (error) {
        const ends = error instanceof MillraceError && error.code === 'unavailable';
        if (!ends) observer.onRefused(key, error);
        throw error;
      }
    },
  };
}

export type SensorPacker = ReturnType<typeof createSensorPacker>;

type ReadableSeries = NonNullable<StoredSeries>;

const isReadable = (series: StoredSeries): series is ReadableSeries => series !== null;

/** Corrections whose hidden samples may be deleted. None, as long as an undo of this hour can be undone. */
function deletableCorrections(corrections: ReadableSeries[], readFrom: number): ReadableSeries[] {
  const before = (readFrom - PURGE_DAYS * DAY_MS) * 1000;
  const canStillBeUndone = ({ revision }: ReadableSeries) => Number(revision?.at) >= before;
  if (corrections.some((row) => row.revision?.undoes !== undefined && canStillBeUndone(row))) return [];
  return corrections.filter((row) => !canStillBeUndone(row));
}

/** More rows of corrections of an hour are bundled. */
const MAX_CORRECTION_ROWS = 16;

/** In bytes. A larger correction stays a row of its own. */
const MAX_BUNDLED = 4096;
const MAX_BUNDLE = 64 * 1024;

function blobOf(hour: number, { revision, ...series }: ReadableSeries): Buffer {
  if (revision?.undoes !== undefined) return packUndo(revision.at, revision.undoes);
  return revisionRows(hour, revision ?? { at: 0, spans: [] }, series)[0] as Buffer;
}

const isSmall = ({ blob }: { blob: Buffer }) => blob.length <= MAX_BUNDLED;

/** The same corrections give the same bundles, in whatever order they are read. */
function bundles(blobs: Buffer[]): Buffer[] {
  const list: Buffer[][] = [];
  let size = Number.POSITIVE_INFINITY;
  const distinct = new Map(blobs.map((blob) => [blob.toString('hex'), blob]));
  for (const blob of [...distinct.values()].sort(Buffer.compare)) {
    if (size + blob.length > MAX_BUNDLE) {
      list.push([]);
      size = 0;
    }
    list.at(-1)?.push(blob);
    size += blob.length;
  }
  return list.map(packBundle);
}

/** A sensor with fewer than 18 samples a second needs one row. Each row is encoded on demand, because encoding takes a while. */
export function* historyRows(hour: number, { times, values }: Series): Generator<Buffer, void> {
  for (let from = 0; from < times.length; from += MAX_SAMPLES_PER_HISTORY_ROW) {
    const to = Math.min(times.length, from + MAX_SAMPLES_PER_HISTORY_ROW);
    yield encodeHour(hour, times, values, from, to);
  }
}

export const isSame = (a: Series, b: Series): boolean =>
  a.times.length === b.times.length &&
  a.times.every((time, at) => time === b.times[at] && Object.is(a.values[at], b.values[at]));
