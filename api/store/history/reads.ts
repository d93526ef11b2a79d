import type { Series } from '../../../schema/packed/series.ts';
import type { HourStatistics } from '../../../schema/packed/statistics.ts';
import { unpackRow } from '../../../schema/packed/unpack.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { int64 } from '../cql-values.ts';
import type { Row, Session } from '../sending/session.ts';
import { createDayStatistics, gapsOf } from './days.ts';
import { dayKey, type SensorKey, yearKey } from './keys.ts';

export interface HourRow {
  hour: number;
  /** null until the hour is packed */
  statistics: HourStatistics | null;
  /** epoch ms at which packing began to read the samples; null: not packed */
  readFrom: number | null;
  /** epoch ms at which late samples arrived last; null: never */
  lateAt: number | null;
}

const SELECT_SAMPLES = {
  name: 'read_history',
  cql: 'SELECT hour, samples FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour >= ? AND hour < ?',
};
const SELECT_STATISTICS = {
  name: 'read_statistics',
  cql: 'SELECT hour, count, min, max, sum, first, last, read_from, late_at FROM history_stat WHERE device_id = ? AND sensor_id = ? AND year = ? AND hour >= ? AND hour < ?',
  // A row has about 100 bytes. The driver decodes a page of 2,000 rows in about 5 ms.
  fetchSize: 2000,
};

const SELECT_TIMED = {
  name: 'read_timed_statistics',
  cql: 'SELECT hour, count, min, max, sum, first, last, first_at, last_at, read_from FROM history_stat WHERE device_id = ? AND sensor_id = ? AND year = ? AND hour >= ? AND hour < ?',
  fetchSize: 2000,
};

/** Epoch ms of the first and the last sample of an hour. */
export interface SampleTimes {
  firstAt: number;
  lastAt: number;
}

/** In longer ranges (ms) statistics are read from `day_stat`, with one row for each day. */
const BY_DAYS_MS = 2 * DAY_MS;

export function createHistoryReads(session: Session) {
  const days = createDayStatistics(session);

  async function readRows(key: SensorKey, from: number, to: number): Promise<HourRow[]> {
    const rows = await session.all(SELECT_STATISTICS, [...yearKey(key, from), int64(from), int64(to)]);
    return rows.map(hourRow);
  }

  async function readByDays(key: SensorKey, from: number, to: number): Promise<HourRow[]> {
    const copies = await days.read(key, dayOf(from), dayOf(to - 1) + DAY_MS);
    // The hourly rows are read after the copies. So if a copy has just become outdated, its rows are at least as new.
    const gaps = gapsOf(from, to, copies);
    const rows = (await Promise.all(gaps.map((gap) => readRows(key, gap.from, gap.to)))).flat();
    for (const [day, hours] of copies) {
      // If there were many gaps, one request has read the gaps and the days between them. Such a day is complete.
      if (gaps.some((gap) => day >= gap.from && day < gap.to)) continue;
      const isWhole = day >= from && day + DAY_MS <= to;
      rows.push(...(isWhole ? hours : hours.filter(({ hour }) => hour >= from && hour < to)));
    }
    return rows.sort((a, b) => a.hour - b.hour);
  }

  return {
    /**
     * Reads the samples as they are stored: one sorted series for each row, or for each correction in it. A sample in two rows is returned twice.
     * @param to the end of an hour of the same UTC day as `from`
     * @returns by hour, in epoch ms
     */
    async readSamples(key: SensorKey, from: number, to: number): Promise<Map<number, Series[]>> {
      const rows = await session.all(SELECT_SAMPLES, [...dayKey(key, from), int64(from), int64(to)]);
      const hours: Map<number, Series[]> = new Map();
      for (const row of rows) {
        const hour = row['hour'].getTime();
        const series = unpackRow(hour, row['samples']);
        const list = hours.get(hour);
        if (list) list.push(...series);
        else hours.set(hour, series);
      }
      return hours;
    },

    /**
     * The packer also needs the rows whose statistics are not exact.
     * @param to the end of an hour of the same UTC year as `from`
     * @returns rows in order of time; hours without a row are missing
     */
    readRows,

    /**
     * Statistics of packed hours that have samples, with the times of first and last. An hour that was packed before these times were stored
     * has its start.
     * @param to the end of an hour of the same UTC year as `from`
     */
    async readTimed(key: SensorKey, from: number, to: number): Promise<TimedHour[]> {
      const rows = await session.all(SELECT_TIMED, [...yearKey(key, from), int64(from), int64(to)]);
      return rows.filter((row) => row['read_from'] !== null && row['count'] > 0).map(timedHour);
    },

    /**
     * In a range of more than 2 days, exact rows of `day_stat` replace the rows of `history_stat`. So a month
     * of a sensor takes 31 rows instead of 744.
     * @param to the end of an hour of the same UTC year as `from`
     * @returns rows in order of time; hours without a row are missing
     */
    readStatistics: (key: SensorKey, from: number, to: number): Promise<HourRow[]> =>
      (to - from > BY_DAYS_MS ? readByDays : readRows)(key, from, to),

    /** Reads `day_stat` where possible, even if the range is short. */
    readByDays,

    /** @returns one sorted series for each stored row of the hour */
    async readHour(key: SensorKey, hour: number): Promise<Series[]> {
      return (await this.readSamples(key, hour, hour + HOUR_MS)).get(hour) ?? [];
    },
  };
}

export type HistoryReads = ReturnType<typeof createHistoryReads>;

export type TimedHour = HourStatistics & SampleTimes & { hour: number };

function timedHour(row: Row): TimedHour {
  const { count, min, max, sum, first, last } = row;
  const hour = row['hour'].getTime();
  const firstAt = row['first_at']?.getTime() ?? hour;
  const lastAt = row['last_at']?.getTime() ?? hour;
  return { hour, count, min, max, sum, first, last, firstAt, lastAt };
}

function hourRow(row: Row): HourRow {
  const { count, min, max, sum, first, last } = row;
  const isPacked = row['read_from'] !== null;
  return {
    hour: row['hour'].getTime(),
    statistics: isPacked ? { count, min, max, sum, first, last } : null,
    readFrom: isPacked ? row['read_from'].toNumber() / 1000 : null,
    lateAt: row['late_at'] === null ? null : row['late_at'].toNumber() / 1000,
  };
}
