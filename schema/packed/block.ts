import type { SensorBytes } from '../ids.ts';
import {
  COUNT_BYTES,
  HOUR_MS,
  ID_BYTES,
  MAX_BLOCK_BYTES,
  SERIES_BYTES,
  TIME_BYTES,
  VALUE_BYTES,
} from '../rules.ts';
import { checkHour, writeBytes } from './pack.ts';
import { type Numbers, type Series, sortMerge } from './series.ts';

/**
 * Version 3, a block (docs/reference/packed-form.md): samples of many sensors of one device in one hour. Sensors with the same times share
 * them. With 10 samples per sensor this saves 29 % of the bytes.
 */
export const BLOCK_VERSION = 3;

const SAMPLE_BYTES = TIME_BYTES + VALUE_BYTES;

/** The samples from index `from` to before index `to`, all of one hour. */
export interface Piece {
  sensor: SensorBytes;
  /** epoch ms, strictly ascending */
  times: Numbers;
  values: Numbers;
  from: number;
  to: number;
}

export const pieceBytes = ({ from, to }: Piece): number => SERIES_BYTES + SAMPLE_BYTES * (to - from);

/** The cuts depend only on the pieces, so a message that arrives twice gives the same blocks twice. @param pieces all of one hour */
export function splitBlocks(pieces: Piece[]): Piece[][] {
  const blocks: Piece[][] = [];
  let block: Piece[] = [];
  let room = MAX_BLOCK_BYTES - 1;
  for (const piece of pieces) {
    let { from } = piece;
    while (from < piece.to) {
      const fitting = Math.floor((room - SERIES_BYTES) / SAMPLE_BYTES);
      const whole = from === piece.from && fitting >= piece.to - from;
      if (!whole && block.length > 0 && fitting < Math.min(piece.to - from, MIN_CUT)) {
        blocks.push(block);
        block = [];
        room = MAX_BLOCK_BYTES - 1;
        continue;
      }
      const to = Math.min(piece.to, from + fitting);
      const part = whole ? piece : { ...piece, from, to };
      block.push(part);
      room -= pieceBytes(part);
      from = to;
    }
  }
  if (block.length > 0) blocks.push(block);
  return blocks;
}

/** With less room at the end of a block, a piece goes whole into the next block. */
const MIN_CUT = 64;

/** @param bucket start of the hour, in epoch ms @throws {RangeError} when there is no sample, or a sample is not of this hour */
export function packBlock(bucket: number, pieces: Piece[]): Buffer {
  if (pieces.length === 0) throw new RangeError('a block without samples');
  return packMessages(bucket, pieces, pieces.length) as Buffer;
}

/**
 * Packs several messages that have the same sensors in the same order, as the messages of a device nearly always have. The result is the
 * block of their merged pieces. But this function needs no map and no lists per sensor, as `mergePieces` does.
 *
 *     pieces   [a b c] [a b c]   two messages
 *     block     a a  b b  c c
 * @param pieces the pieces of the first message, then those of the second message, and so on
 * @param width number of pieces in each message, all of different sensors
 * @returns null: the pieces have to be merged first, because the samples of a sensor are not in order of time
 */
export function packMessages(bucket: number, pieces: Piece[], width: number): Buffer | null {
  let samples = 0;
  for (const { from, to } of pieces) samples += to - from;
  const blob = Buffer.allocUnsafe(1 + SERIES_BYTES * width + SAMPLE_BYTES * samples);
  // One DataView for the whole block: see the measurement in pack.ts.
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  view.setUint8(0, BLOCK_VERSION);
  let at = 1;
  for (let column = 0; column < width; column++) {
    const count = countInOrder(bucket, pieces, column, width);
    const isShared = column > 0 && sharesTimes(pieces, column, width);
    if (count === 0 || isShared === null) return null;
    at = writeBytes(blob, at, (pieces[column] as Piece).sensor);
    view.setUint16(at, isShared ? 0 : count, true);
    at += COUNT_BYTES;
    if (!isShared) at = writeTimes(view, at, bucket, pieces, column, width);
    at = writeValues(view, at, pieces, column, width);
  }
  return at === blob.length ? blob : blob.subarray(0, at);
}

function writeTimes(
  view: DataView,
  at: number,
  bucket: number,
  pieces: Piece[],
  column: number,
  width: number,
): number {
  let next = at;
  for (let index = column; index < pieces.length; index += width) {
    const { times, from, to } = pieces[index] as Piece;
    for (let i = from; i < to; i++, next += TIME_BYTES)
      view.setUint32(next, (times[i] as number) - bucket, true);
  }
  return next;
}

function writeValues(view: DataView, at: number, pieces: Piece[], column: number, width: number): number {
  let next = at;
  for (let index = column; index < pieces.length; index += width) {
    const { values, from, to } = pieces[index] as Piece;
    for (let i = from; i < to; i++, next += VALUE_BYTES) view.setFloat64(next, values[i] as number, true);
  }
  return next;
}

/** 0: the samples are not in order of time. @throws {RangeError} when a piece has no sample, or a sample is not of this hour */
function countInOrder(bucket: number, pieces: Piece[], column: number, width: number): number {
  let count = 0;
  let previous = Number.NEGATIVE_INFINITY;
  for (let index = column; index < pieces.length; index += width) {
    const { times, from, to } = pieces[index] as Piece;
    checkHour(bucket, times, from, to);
    if ((times[from] as number) <= previous) return 0;
    previous = times[to - 1] as number;
    count += to - from;
  }
  return count;
}

/** As the sensor before it. null: unknown, because it has more samples in one message and fewer in another. */
function sharesTimes(pieces: Piece[], column: number, width: number): boolean | null {
  let isShared = true;
  let isLevel = true;
  let surplus = 0;
  for (let index = column; index < pieces.length; index += width) {
    const piece = pieces[index] as Piece;
    const before = pieces[index - 1] as Piece;
    const difference = piece.to - piece.from - (before.to - before.from);
    surplus += difference;
    isLevel &&= difference === 0;
    isShared &&= hasTimesOf(piece, before);
  }
  return !isLevel && surplus === 0 ? null : isShared;
}

function hasTimesOf({ times, from, to }: Piece, before: Piece) {
  if (to - from !== before.to - before.from) return false;
  for (let i = from, j = before.from; i < to; i++, j++) if (times[i] !== before.times[j]) return false;
  return true;
}

/** In epoch ms: the row's `ts`. @param pieces at least one */
export function newestOf(pieces: Piece[]): number {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { times, to } of pieces) newest = Math.max(newest, times[to - 1] as number);
  return newest;
}

/**
 * @param visit gets each sensor's id, a view of `blob`, and a function that reads its samples
 * @throws {RangeError} when the blob is no block of samples of one hour
 */
export function visitBlock(
  bucket: number,
  blob: Uint8Array,
  visit: (sensor: SensorBytes, series: () => Series) => void,
) {
  if (blob[0] !== BLOCK_VERSION) {
    throw new RangeError(
      `packed samples are of version ${blob[0]}; a row of message is of version ${BLOCK_VERSION}`,
    );
  }
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  let at = 1;
  let timesAt = 0;
  let count = 0;
  if (blob.length === at) throw new RangeError('a block without samples');
  while (at < blob.length) {
    if (blob.length - at < SERIES_BYTES) throw new RangeError(`a block that ends within a sensor's header`);
    const sensor = bytes.subarray(at, at + ID_BYTES);
    const own = view.getUint16(at + ID_BYTES, true);
    at += SERIES_BYTES;
    if (own > 0) {
      count = own;
      timesAt = at;
      at += TIME_BYTES * count;
    } else if (count === 0) throw new RangeError('the first sensor of a block has no times');
    const [times, values] = [timesAt, at];
    const samples = count;
    at += VALUE_BYTES * count;
    if (at > blob.length) throw new RangeError(`a block that ends within a sensor's samples`);
    visit(sensor, () => readSeries(bucket, view, times, values, samples));
  }
}

function readSeries(
  bucket: number,
  view: DataView,
  timesAt: number,
  valuesAt: number,
  count: number,
): Series {
  const times = new Float64Array(count);
  const values = new Float64Array(count);
  let previous = -1;
  for (let i = 0; i < count; i++) {
    const offset = view.getUint32(timesAt + TIME_BYTES * i, true);
    if (offset <= previous) throw new RangeError(`packed sample ${i} is not after the one before it`);
    previous = offset;
    times[i] = bucket + offset;
    values[i] = view.getFloat64(valuesAt + VALUE_BYTES * i, true);
  }
  if (previous >= HOUR_MS)
    throw new RangeError(`the last packed sample is ${previous} ms after its hour began`);
  return { times, values };
}

/** One piece per sensor. So 60 messages with one sample each become as small as one message with 60 samples. */
export function mergePieces(pieces: Piece[]): Piece[] {
  /** By object. Ingest keeps one Buffer for each sensor id, so equal ids are the same object. */
  const sensors: Map<SensorBytes, Piece[]> = new Map();
  for (const piece of pieces) {
    const list = sensors.get(piece.sensor);
    if (list) list.push(piece);
    else sensors.set(piece.sensor, [piece]);
  }
  if (sensors.size === pieces.length) return pieces;
  return [...sensors].map(([sensor, [first, ...others]]) => {
    if (others.length === 0) return first as Piece;
    const allTimes: number[] = [];
    const allValues: number[] = [];
    for (const { times, values, from, to } of [first as Piece, ...others]) {
      for (let i = from; i < to; i++) {
        allTimes.push(times[i] as number);
        allValues.push(values[i] as number);
      }
    }
    const { times, values } = sortMerge(allTimes, allValues);
    return { sensor, times, values, from: 0, to: times.length };
  });
}
