import type { DeviceBytes, SensorBytes } from '../../../schema/ids.ts';
import {
  encodeStamp,
  greaterStamp,
  int32,
  readStamp,
  type Stamp,
  stampAfter,
  stampOf,
} from '../cql-values.ts';
import { type Newest, newestOf } from '../devices/latest-rows.ts';
import type { Row, Session } from '../sending/session.ts';
import { latestStamp, mapCell } from './writes.ts';

const SELECT = {
  name: 'read_corrected_latest',
  cql: 'SELECT newest, corrected FROM latest WHERE grp = ? AND device_id = ?',
};
const UPDATE =
  'UPDATE latest USING TIMESTAMP ? SET newest = newest + ?, corrected = corrected + ? WHERE grp = ? AND device_id = ?';
const NOTE = 'UPDATE latest USING TIMESTAMP ? SET corrected = corrected + ? WHERE grp = ? AND device_id = ?';
const REMOVE = 'DELETE newest[?] FROM latest USING TIMESTAMP ? WHERE grp = ? AND device_id = ?';

type Device = { bytes: DeviceBytes; group: number; retiredAt: number | null };

/** `stamp`: write timestamp of the entry of `newest`, or of its removal; 0: there was none */
export type LatestEntry = { newest: Newest | null; stamp: Stamp };

/**
 * A correction changes an entry of `latest` against the order of time: to another value of the same time, or to an older sample. So its
 * write timestamp is greater than that of the entry. It is kept in the column `corrected`, because ScyllaDB cannot read the write
 * timestamps of the entries of a map.
 */
export function createCorrectedLatest(session: Pick<Session, 'one' | 'writeBatch'>) {
  return {
    /** @returns the entries by sensor id */
    async read({ bytes, group, retiredAt }: Device): Promise<Map<string, LatestEntry>> {
      const row = await session.one(SELECT, [group, bytes]);
      const newest = newestOf(row?.['newest']);
      const stamps = correctedStamps(row);
      return new Map(
        [...new Set([...newest.keys(), ...stamps.keys()])].map((sensor) => {
          const entry = newest.get(sensor) ?? null;
          const measured = entry ? latestStamp(entry.ts, retiredAt) : stampOf(0);
          return [sensor, { newest: entry, stamp: greaterStamp(measured, stamps.get(sensor) ?? measured) }];
        }),
      );
    },

    /** Replaces `entry`, unless another process has changed it meanwhile. @param newest null: the sensor has no samples */
    async write(
      { bytes, group, retiredAt }: Device,
      sensor: SensorBytes,
      entry: LatestEntry,
      newest: Newest | null,
    ) {
      const next = stampAfter(entry.stamp, 1);
      const stamp = newest ? greaterStamp(latestStamp(newest.ts, retiredAt), next) : next;
      const [time, note] = [encodeStamp(stamp), stampCell(sensor, stamp)];
      await session.writeBatch(
        'write_corrected_latest',
        newest
          ? [
              {
                query: UPDATE,
                params: [
                  time,
                  mapCell(newest.ts, [{ sensor: { bytes: sensor }, value: newest.value }]),
                  note,
                  group,
                  bytes,
                ],
              },
            ]
          : [
              { query: REMOVE, params: [sensor, time, group, bytes] },
              { query: NOTE, params: [time, note, group, bytes] },
            ],
      );
    },
  };
}

export type CorrectedLatest = ReturnType<typeof createCorrectedLatest>;

/** @param row of `latest`, with the column `corrected` @returns by sensor id */
export const correctedStamps = (row: Row | null | undefined): Map<string, Stamp> =>
  new Map(Object.entries(row?.['corrected'] ?? {}).map(([sensor, stamp]) => [sensor, readStamp(stamp)]));

/** Encodes a `map<uuid, bigint>` with one entry (native_protocol_v4.spec, section 6.11). */
const stampCell = (sensor: SensorBytes, stamp: Stamp) =>
  Buffer.concat([int32(1), int32(sensor.length), sensor, int32(8), encodeStamp(stamp)]);
