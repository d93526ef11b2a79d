import { uuidText } from '../../../schema/ids.ts';
import { DAY_MS, dayOf } from '../../../schema/rules.ts';
import { int64 } from '../../store/index.ts';
import type { Row, Session } from '../../store/sending/session.ts';

const EDITS = {
  name: 'read_edits_for_graph',
  cql: 'SELECT version, changes FROM asset_change WHERE bucket = ? AND version > ?',
  // A row of 500 changes has about 100 KB.
  fetchSize: 16,
};
const ALARMS_OF_DAY = {
  name: 'read_day_for_graph',
  cql: 'SELECT start, device_id, sensor_id, rule_id FROM alarm_by_day WHERE day = ?',
  fetchSize: 1000,
};
const ALARM = {
  name: 'read_alarm_for_graph',
  cql: 'SELECT rule, severity, device, sensor, opened, withdrawn, WRITETIME(opened) AS written_at FROM alarm WHERE device_id = ? AND sensor_id = ? AND rule_id = ? AND start = ?',
};

/** Versions in a partition of `asset_change`. */
const BUCKET = 256;

const ROWS_AT_ONCE = 32;

/** A change of the tree of assets, as its log has it. Times are epoch ms, full hours; ids are UUIDs. */
export type Change = {
  do: 'create' | 'rename' | 'set_level' | 'move' | 'retire' | 'place';
  asset: string | null;
  parent?: string | null;
  device?: string;
  sensor?: string;
};

export interface Edit {
  version: number;
  changes: Change[];
}

export interface OpenedAlarm {
  device: string;
  deviceName: string | null;
  sensor: string;
  sensorName: string | null;
  rule: string;
  ruleName: string;
  severity: string;
  /** epoch ms */
  start: number;
  /** epoch ms */
  opened: number;
  withdrawn: boolean;
}

/** Reads the tables of other features, and not their code, so that each feature can be taken out. */
export const createGraphTables = (session: Session) => ({
  /** Edits of the tree of assets after this version, oldest first. */
  async *edits(after: number): AsyncGenerator<Edit> {
    let newest = after;
    let bucket: number;
    do {
      bucket = bucketOf(newest + 1);
      for await (const rows of session.pages(EDITS, [bucket, newest])) {
        for (const row of rows) {
          newest = row['version'];
          yield { version: newest, changes: JSON.parse(row['changes']) };
        }
      }
      // The newest edit may be the last one of its bucket.
    } while (bucketOf(newest + 1) > bucket);
  },

  /** Alarms that started on the days of [from, to], and were written since. All three in epoch ms. */
  async *alarms(from: number, to: number, since: number): AsyncGenerator<OpenedAlarm[]> {
    for (let day = dayOf(from); day <= to; day += DAY_MS) {
      for await (const keys of session.pages(ALARMS_OF_DAY, [int64(day)])) {
        for (let index = 0; index < keys.length; index += ROWS_AT_ONCE) {
          const some = keys.slice(index, index + ROWS_AT_ONCE);
          const rows = await Promise.all(some.map((key) => session.one(ALARM, keyOf(key))));
          // A row may have only an acknowledgement, because its alarm has expired.
          yield rows.flatMap((row, place) =>
            row?.['opened'] && Number(row['written_at']) / 1000 >= since
              ? toAlarm(some[place] as Row, row)
              : [],
          );
        }
      }
    }
  },
});

export type GraphTables = ReturnType<typeof createGraphTables>;

const bucketOf = (version: number) => Math.floor(version / BUCKET);

const keyOf = (row: Row) => [
  row['device_id'].getBuffer(),
  row['sensor_id'].getBuffer(),
  row['rule_id'].getBuffer(),
  int64(row['start'].getTime()),
];

const toAlarm = (key: Row, row: Row): OpenedAlarm => ({
  device: uuidText(key['device_id'].getBuffer()),
  deviceName: row['device'] ?? null,
  sensor: uuidText(key['sensor_id'].getBuffer()),
  sensorName: row['sensor'] ?? null,
  rule: uuidText(key['rule_id'].getBuffer()),
  ruleName: row['rule'],
  severity: row['severity'],
  start: key['start'].getTime(),
  opened: row['opened'].getTime(),
  withdrawn: row['withdrawn'] === true,
});
