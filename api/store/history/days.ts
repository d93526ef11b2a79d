import { type DayHour, packDay, unpackDay } from '../../../schema/packed/day.ts';
import { DAY_MS, dayOf, HOUR_MS, isExact } from '../../../schema/rules.ts';
import { int32, int64, msOfStamp, readStamp, writeTimestamp } from '../cql-values.ts';
import type { Row, Session } from '../sending/session.ts';
import { type SensorKey, yearKey } from './keys.ts';

const SELECT = {
  name: 'read_days',
  cql: 'SELECT day, hours, late FROM day_stat WHERE device_id = ? AND sensor_id = ? AND year = ? AND day >= ? AND day < ?',
};
const INSERT = {
  name: 'write_day',
  cql: 'INSERT INTO day_stat (device_id, sensor_id, year, day, hours) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
};
const UPDATE_LATE =
  'UPDATE day_stat USING TIMESTAMP ? SET late = late + ? WHERE device_id = ? AND sensor_id = ? AND year = ? AND day = ?';

/** Has the columns of `history_stat`. `lateAt`: epoch ms at which late samples arrived; null: never */
type CopiedHour = DayHour & { lateAt: number | null };

/**
 * One row of `day_stat` is a copy of the rows of `history_stat` of a day. When late samples arrive, a mark is
 * written to both tables. So a copy is as reliable as the rows that it was made from.
 */
export function createDayStatistics(session: Session) {
  return {
    /**
     * Reads the copies that may replace all rows of their day in `history_stat`, because their statistics are exact.
     * @param to the end of a day of the same UTC year
     * @returns hours in order of time, by the day's start in epoch ms
     */
    async read(key: SensorKey, from: number, to: number): Promise<Map<number, CopiedHour[]>> {
      const rows = await session.all(SELECT, [...yearKey(key, from), int64(from), int64(to)]);
      const days: Map<number, CopiedHour[]> = new Map();
      for (const row of rows) {
        const hours = exactHours(row);
        if (hours) days.set(row['day'].getTime(), hours);
      }
      return days;
    },

    /**
     * @param hours all rows of the day in `history_stat`, all of them exact
     * @param readAt epoch ms at which the read of the rows began; of two copies, the later read wins
     */
    write: (key: SensorKey, day: number, hours: DayHour[], readAt: number) =>
      session.write(INSERT, [...yearKey(key, day), int64(day), packDay(day, hours), writeTimestamp(readAt)]),

    /** @param hours epoch ms of hours that got late samples, all of one UTC year */
    writeLate: (key: SensorKey, hours: number[], lateAt: number) =>
      session.writeBatch(
        'write_late_day',
        [...new Set(hours.map(dayOf))].map((day) => ({
          query: UPDATE_LATE,
          params: [
            writeTimestamp(lateAt),
            lateCell(
              hours.filter((hour) => dayOf(hour) === day).map((hour) => (hour - day) / HOUR_MS),
              lateAt,
            ),
            ...yearKey(key, day),
            int64(day),
          ],
        })),
      ),
  };
}

/** @returns null: the copy is not exact, so the day has to be read from `history_stat` */
function exactHours(row: Row): CopiedHour[] | null {
  if (row['hours'] === null) return null;
  const day = row['day'].getTime();
  const hours = unpackDay(day, row['hours']);
  const late = Object.entries(row['late'] ?? {});
  // A shortcut: most days have no late marks, and a query reads many days.
  if (late.length === 0) return hours;
  const marks = new Map(late.map(([index, at]) => [day + Number(index) * HOUR_MS, msOfStamp(readStamp(at))]));
  const marked = hours.map((hour) => ({ ...hour, lateAt: marks.get(hour.hour) ?? null }));
  // A late mark may belong to an hour that is missing in the copy. Then the copy is incomplete.
  const isMissing = marks.size > marked.filter(({ lateAt }) => lateAt !== null).length;
  return isMissing || !marked.every(isExact) ? null : marked;
}

/** Encodes a `map<int, bigint>` (native_protocol_v4.spec, section 6.11). @param indexes hours of the day, from 0 to 23 */
const lateCell = (indexes: number[], lateAt: number) =>
  Buffer.concat([
    int32(indexes.length),
    ...indexes.flatMap((index) => [int32(4), int32(index), int32(8), writeTimestamp(lateAt)]),
  ]);

/**
 * Finds the times of which no day is known, in order of time. If there are more than `MAX_GAPS` gaps, the
 * result is one gap from the first to the last.
 */
export function gapsOf(
  from: number,
  to: number,
  days: Pick<Map<number, unknown>, 'has'>,
): Array<{ from: number; to: number }> {
  const gaps: Array<{ from: number; to: number }> = [];
  for (let day = dayOf(from); day < to; day += DAY_MS) {
    if (days.has(day)) continue;
    const last = gaps.at(-1);
    const end = Math.min(day + DAY_MS, to);
    if (last && last.to === day) last.to = end;
    else gaps.push({ from: Math.max(day, from), to: end });
  }
  const [first, last] = [gaps[0], gaps.at(-1)];
  return first && last && gaps.length > MAX_GAPS ? [{ from: first.from, to: last.to }] : gaps;
}

/** If there are more gaps, one request reads from the first gap to the last. */
const MAX_GAPS = 4;
