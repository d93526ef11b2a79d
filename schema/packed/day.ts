import { HOUR_MS } from '../rules.ts';
import type { HourStatistics } from './statistics.ts';

/** Version 4 (docs/reference/packed-form.md): the statistics of the hours of a UTC day. */

const VERSION = 4;
const HEAD_BYTES = 4;
const HOURS = 24;
const BYTES_AN_HOUR = 6 * 8 + 4;

/** `readFrom`: epoch ms at which the process began to read the samples for the statistics */
export interface DayHour {
  hour: number;
  statistics: HourStatistics;
  readFrom: number;
}

/** After `read_from` and `count`, in their order. */
const COLUMNS = ['min', 'max', 'sum', 'first', 'last'] as const;

export function packDay(day: number, hours: DayHour[]): Buffer {
  const blob = Buffer.alloc(HEAD_BYTES + hours.length * BYTES_AN_HOUR);
  const bits = hours.reduce((sum, { hour }) => sum + 2 ** ((hour - day) / HOUR_MS), 0);
  blob.writeUInt8(VERSION, 0);
  blob.writeUIntLE(bits, 1, 3);
  let at = HEAD_BYTES;
  for (const { readFrom } of hours) at = blob.writeDoubleLE(readFrom, at);
  for (const { statistics } of hours) at = blob.writeInt32LE(statistics.count, at);
  for (const column of COLUMNS)
    for (const { statistics } of hours) at = blob.writeDoubleLE(statistics[column], at);
  return blob;
}

/** In order of time; `lateAt` is always null. @throws {RangeError} when the blob is damaged, or has an unknown version */
export function unpackDay(day: number, blob: Buffer): Array<DayHour & { lateAt: number | null }> {
  if (blob.length < HEAD_BYTES || blob[0] !== VERSION) throw new RangeError('this is no packed day');
  const bits = blob.readUIntLE(1, 3);
  let count = 0;
  for (let index = 0; index < HOURS; index++) count += (bits >> index) & 1;
  if (blob.length !== HEAD_BYTES + count * BYTES_AN_HOUR) throw new RangeError('a packed day is cut off');
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const counts = HEAD_BYTES + 8 * count;
  const doubles = counts + 4 * count;
  const column = 8 * count;
  const hours = [];
  for (let index = 0, at = 0; index < HOURS; index++) {
    if (((bits >> index) & 1) === 0) continue;
    const first = doubles + 8 * at;
    hours.push({
      hour: day + index * HOUR_MS,
      statistics: {
        count: view.getInt32(counts + 4 * at, true),
        min: view.getFloat64(first, true),
        max: view.getFloat64(first + column, true),
        sum: view.getFloat64(first + 2 * column, true),
        first: view.getFloat64(first + 3 * column, true),
        last: view.getFloat64(first + 4 * column, true),
      },
      readFrom: view.getFloat64(HEAD_BYTES + 8 * at, true),
      lateAt: null,
    });
    at++;
  }
  return hours;
}
