import type { DeviceBytes } from '../../../schema/ids.ts';
import { int32, int64 } from '../cql-encoding.ts';
import type { Row, Session } from '../sending/session.ts';
import { partOf } from './hours.ts';

const SELECT = {
  name: 'read_hour',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  // A message of 50 sensors is a row of 1 kB. Under load, waiting messages share rows of up to 32 KiB, but a device has
  // only few such rows in an hour.
  fetchSize: 500,
};
const SELECT_SINCE = {
  ...SELECT,
  name: 'read_hour_since',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts >= ?',
};
const SELECT_PARTS = {
  name: 'read_parts',
  cql: 'SELECT parts, samples FROM message WHERE device_id = ? AND bucket = ? AND part = ? LIMIT 1',
};

/** A request reads rows of one partition: an hour of a device, and one part of its sensors if there are many. */
export function createMessageRows(session: Session) {
  /** The numbers of parts are in a static column of part 0, which each row contains. If no row was found, the column is read alone. */
  const partsOf = async (rows: Row[], key: unknown[], part: number) =>
    partsIn(rows.length > 0 || part > 0 ? rows : await session.all(SELECT_PARTS, key));

  return {
    /**
     * @param since epoch ms: rows whose samples are all earlier may be left out
     * @returns `parts`: each number of parts over which sensors of the hour were spread; only part 0 has these numbers
     */
    async read(
      device: DeviceBytes,
      bucket: number,
      part: number,
      since: number = bucket,
    ): Promise<{ blocks: Buffer[]; parts: number[] }> {
      const key = [device, int64(bucket), int32(part)];
      const rows =
        since > bucket
          ? await session.all(SELECT_SINCE, [...key, int64(since)])
          : await session.all(SELECT, key);
      return {
        blocks: blocksOf(rows),
        parts: since > bucket ? await partsOf(rows, key, part) : partsIn(rows),
      };
    },

    async page(
      device: DeviceBytes,
      bucket: number,
      part: number,
      after?: string,
    ): Promise<{ blocks: Buffer[]; parts: number[]; next: string | undefined }> {
      const { rows, next } = await session.page(SELECT, [device, int64(bucket), int32(part)], after);
      return { blocks: blocksOf(rows), parts: partsIn(rows), next };
    },
  };
}

const partsIn = ([first]: Row[]): number[] => first?.['parts'] ?? [];

/** A partition that has only the static column is returned as one row without samples. */
const blocksOf = (rows: Row[]): Buffer[] => rows.map((row) => row['samples']).filter((blob) => blob !== null);

/** Parts that may have samples of the sensor, in addition to part 0. */
export const partsOfSensor = (parts: number[], sensor: Uint8Array): number[] => [
  ...new Set(parts.map((count) => partOf(sensor, count))),
];

export const allParts = (parts: number[]): number[] =>
  Array.from({ length: Math.max(0, ...parts) }, (_, index) => index + 1);
