import { HOUR_MS, MAX_SAMPLES_PER_HISTORY_ROW } from '../rules.ts';
import { encodeHour } from './hour/encode-hour.ts';
import type { Numbers, Revision, Series, Span } from './series.ts';

/**
 * Version 5 (docs/reference/packed-form.md): a correction of one sensor in one hour. It removes spans of time, and then gives samples their
 * values in version 1 or 2.
 */
export const REVISION_VERSION = 5;

/** Version 6: an undone correction. It has the revision of the undo, and then that of the correction. */
export const UNDO_VERSION = 6;
const UNDO_BYTES = 1 + 8 + 8;

/** Version 7: several corrections of one sensor in one hour, in version 5 or 6. Each comes after its length. */
export const BUNDLE_VERSION = 7;
const LENGTH_BYTES = 4;

const HEAD_BYTES = 1 + 8 + 4;
const SPAN_BYTES = 8;

/**
 * @param at epoch µs at which the correction was accepted
 * @param spans of the hour in epoch ms, ascending and disjoint
 * @param samples indexes `from` to before `to`; null: the correction only removes
 * @throws {RangeError} when it corrects nothing, or is not of this hour
 */
export function packRevision(
  bucket: number,
  { at, spans }: Revision,
  samples: { times: Numbers; values: Numbers; from: number; to: number } | null,
): Buffer {
  checkSpans(bucket, spans);
  if (spans.length === 0 && samples === null) throw new RangeError('a revision that corrects nothing');
  const head = Buffer.allocUnsafe(HEAD_BYTES + SPAN_BYTES * spans.length);
  head.writeUInt8(REVISION_VERSION, 0);
  head.writeBigUInt64LE(BigInt(at), 1);
  head.writeUInt32LE(spans.length, 9);
  let next = HEAD_BYTES;
  for (const { from, to } of spans) {
    next = head.writeUInt32LE(from - bucket, next);
    next = head.writeUInt32LE(to - bucket, next);
  }
  if (samples === null) return head;
  return Buffer.concat([head, encodeHour(bucket, samples.times, samples.values, samples.from, samples.to)]);
}

/** A correction in as many rows as its samples need. The first has the spans. @throws {RangeError} as `packRevision` */
export function revisionRows(
  bucket: number,
  { at, spans }: Revision,
  { times, values }: Pick<Series, 'times' | 'values'>,
): Buffer[] {
  if (times.length === 0) return [packRevision(bucket, { at, spans }, null)];
  const rows: Buffer[] = [];
  for (let from = 0; from < times.length; from += MAX_SAMPLES_PER_HISTORY_ROW) {
    const to = Math.min(times.length, from + MAX_SAMPLES_PER_HISTORY_ROW);
    rows.push(packRevision(bucket, { at, spans: from === 0 ? spans : [] }, { times, values, from, to }));
  }
  return rows;
}

/** @param blobs in version 5 or 6 */
export const packBundle = (blobs: Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from([BUNDLE_VERSION]),
    ...blobs.flatMap((blob) => {
      const length = Buffer.allocUnsafe(LENGTH_BYTES);
      length.writeUInt32LE(blob.length);
      return [length, blob];
    }),
  ]);

/** @param blob in version 7 @returns blobs in version 5 or 6 @throws {RangeError} when the bytes are no bundle */
export function readBundle(blob: Uint8Array): Uint8Array[] {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const parts: Uint8Array[] = [];
  for (let at = 1; at < blob.length; ) {
    if (at + LENGTH_BYTES > blob.length) throw new RangeError('a bundle of corrections is cut off');
    const end = at + LENGTH_BYTES + view.getUint32(at, true);
    const part = blob.subarray(at + LENGTH_BYTES, end);
    if (end > blob.length || (part[0] !== REVISION_VERSION && part[0] !== UNDO_VERSION))
      throw new RangeError(`part ${parts.length} of a bundle is cut off, or no correction`);
    parts.push(part);
    at = end;
  }
  if (parts.length === 0) throw new RangeError('a bundle of no corrections');
  return parts;
}

/** @param at epoch µs of the undo @param undoes epoch µs of the correction @throws {RangeError} when it is not the later one */
export function packUndo(at: number, undoes: number): Buffer {
  checkUndo(at, undoes);
  const blob = Buffer.allocUnsafe(UNDO_BYTES);
  blob.writeUInt8(UNDO_VERSION, 0);
  blob.writeBigUInt64LE(BigInt(at), 1);
  blob.writeBigUInt64LE(BigInt(undoes), 9);
  return blob;
}

/** @param blob in version 6 @throws {RangeError} when the bytes are no undo */
export function readUndo(blob: Uint8Array): Revision {
  if (blob.length !== UNDO_BYTES)
    throw new RangeError(`an undo of ${blob.length} bytes: ${UNDO_BYTES} are needed`);
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const [at, undoes] = [Number(view.getBigUint64(1, true)), Number(view.getBigUint64(9, true))];
  checkUndo(at, undoes);
  return { at, spans: [], undoes };
}

function checkUndo(at: number, undoes: number) {
  if (!(undoes >= 1 && undoes < at && at <= Number.MAX_SAFE_INTEGER))
    throw new RangeError(`revision ${at} cannot undo revision ${undoes}`);
}

/**
 * @param blob in version 5
 * @returns `samples`: a blob in version 1 or 2; empty: the correction only removes
 * @throws {RangeError} when the bytes are no revision of this hour
 */
export function readRevision(bucket: number, blob: Uint8Array): { revision: Revision; samples: Uint8Array } {
  if (blob.length < HEAD_BYTES) throw new RangeError(`a revision of ${blob.length} bytes is cut off`);
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const at = Number(view.getBigUint64(1, true));
  if (at < 1 || at > Number.MAX_SAFE_INTEGER) throw new RangeError(`${at} is no revision`);
  const count = view.getUint32(9, true);
  const end = HEAD_BYTES + SPAN_BYTES * count;
  if (end > blob.length) throw new RangeError(`a revision ends within its ${count} spans`);
  const spans: Span[] = [];
  for (let next = HEAD_BYTES; next < end; next += SPAN_BYTES)
    spans.push({
      from: bucket + view.getUint32(next, true),
      to: bucket + view.getUint32(next + SPAN_BYTES / 2, true),
    });
  checkSpans(bucket, spans);
  const samples = blob.subarray(end);
  if (count === 0 && samples.length === 0) throw new RangeError('a revision that corrects nothing');
  return { revision: { at, spans }, samples };
}

function checkSpans(bucket: number, spans: Span[]) {
  let previous = bucket;
  for (const { from, to } of spans) {
    if (!(from >= previous && to > from))
      throw new RangeError(`the span from ${from - bucket} to ${to - bucket} ms is empty or not in order`);
    previous = to;
  }
  if (previous > bucket + HOUR_MS)
    throw new RangeError(`a span ends ${previous - bucket} ms after its hour began`);
}
