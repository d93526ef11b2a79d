import { HOUR_MS, MAX_SAMPLES_PER_HISTORY_ROW } from '../rules.ts';
import { Reader } from './hour/bytes.ts';
import { HOUR_VERSION } from './hour/encode-hour.ts';
import { unpackValues } from './hour/forms.ts';
import { unpackTimes } from './hour/times.ts';
import { ARRAYS_VERSION, unpackArrays } from './pack.ts';
import {
  BUNDLE_VERSION,
  REVISION_VERSION,
  readBundle,
  readRevision,
  readUndo,
  UNDO_VERSION,
} from './revision.ts';
import type { Revision } from './series.ts';

type Unpacked = { times: Float64Array; values: Float64Array };

/**
 * Reads versions 1, 2, 5 and 6. Versions 5 and 6 have a revision, and may have no samples.
 * @throws {RangeError} when the blob contains no packed samples of one hour. Even a damaged blob never takes more
 *   memory than the largest valid hour
 */
export function unpackSamples(bucket: number, blob: Uint8Array): Unpacked & { revision?: Revision } {
  if (blob.length === 0) throw new RangeError('packed samples are empty: not even a version byte is there');
  if (blob[0] === REVISION_VERSION) return unpackRevision(bucket, blob);
  return blob[0] === UNDO_VERSION ? { ...noSamples(), revision: readUndo(blob) } : unpackPlain(bucket, blob);
}

/** A row of history. A bundle of corrections has one series for each. @throws {RangeError} as `unpackSamples` */
export const unpackRow = (bucket: number, blob: Uint8Array): Array<ReturnType<typeof unpackSamples>> =>
  blob[0] === BUNDLE_VERSION
    ? readBundle(blob).map((part) => unpackSamples(bucket, part))
    : [unpackSamples(bucket, blob)];

const noSamples = (): Unpacked => ({ times: new Float64Array(), values: new Float64Array() });

function unpackRevision(bucket: number, blob: Uint8Array) {
  const { revision, samples } = readRevision(bucket, blob);
  return { ...(samples.length > 0 ? unpackPlain(bucket, samples) : noSamples()), revision };
}

function unpackPlain(bucket: number, blob: Uint8Array): Unpacked {
  const { offsets, values } = readerOf(Number(blob[0]))(blob.subarray(1));
  if (offsets.length === 0) throw new RangeError('there are no packed samples in it');
  return { times: timesOf(bucket, offsets), values };
}

function readerOf(version: number) {
  if (version === ARRAYS_VERSION) return unpackArrays;
  if (version === HOUR_VERSION) return unpackHour;
  throw new RangeError(
    `packed samples are of version ${version}; this process knows versions ${ARRAYS_VERSION}, ${HOUR_VERSION}, ${REVISION_VERSION} and ${UNDO_VERSION}`,
  );
}

/** In place. @param offsets ms since the hour began */
function timesOf(bucket: number, offsets: Float64Array) {
  let previous = -1;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i] as number;
    if (offset <= previous) throw new RangeError(`packed sample ${i} is not after the one before it`);
    offsets[i] = bucket + offset;
    previous = offset;
  }
  if (previous >= HOUR_MS)
    throw new RangeError(`the last packed sample is ${previous} ms after its hour began`);
  return offsets;
}

/** @returns `offsets`: ms since the hour began, unchecked @throws {RangeError} when the bytes are no packed samples */
function unpackHour(rest: Uint8Array): { offsets: Float64Array; values: Float64Array } {
  const reader = new Reader(rest);
  const form = reader.byte();
  const count = reader.count(MAX_SAMPLES_PER_HISTORY_ROW);
  const offsets = unpackTimes(reader, count);
  const values = unpackValues(reader, form, count);
  reader.end();
  return { offsets, values };
}
