import { uuidText } from '../../../schema/ids.ts';
import { DAY_MS, dayOf } from '../../../schema/rules.ts';
import { int64 } from '../../store/index.ts';
import type { Row, Session } from '../../store/sending/session.ts';
import { hourVertex, vertexOf } from './vertices.ts';

const EDITS = {
  name: 'read_edits_for_graph',
  cql: 'SELECT version, changes FROM asset_change WHERE bucket = ? AND version > ?',
  // A row of 500 changes has about 100 KB.
  fetchSize: 16,
};
const ALARMS_OF_DAY = {
  name: 'read_day_for_graph',
  cql: 'SELECT start, device_id, sensor_id, rule_id FROM alarm_by_day WHERE day = ?',
  fetchSize: 32,
};
const ALARM = {
  name: 'read_alarm_for_graph',
  cql: 'SELECT rule, severity, device, sensor, opened, withdrawn, WRITETIME(opened) AS written_at FROM alarm WHERE device_id = ? AND sensor_id = ? AND rule_id = ? AND start = ?',
};

/** Versions in a partition of `asset_change`. */
const BUCKET = 256;

/** A call of a function of `apply.groovy`. */
export type Item = { do: string; [name: string]: unknown };

/** Reads the tables of other features, and not their code, so that each feature can be taken out. */
export const createGraphTables = (session: Session) => ({
  /** Edits of the tree of assets after this version, oldest first. */
  async *edits(after: number): AsyncGenerator<{ version: number; items: Item[] }> {
    let newest = after;
    let bucket: number;
    do {
      bucket = bucketOf(newest + 1);
      for await (const rows of session.pages(EDITS, [bucket, newest])) {
        for (const row of rows) {
          newest = row['version'];
          yield { version: newest, items: JSON.parse(row['changes']).map(itemOfChange) };
        }
      }
      // The newest edit may be the last one of its bucket.
    } while (bucketOf(newest + 1) > bucket);
  },

  /** Alarms that started on the days of [from, to], and were written since. All three in epoch ms. */
  async *alarms(from: number, to: number, since: number): AsyncGenerator<Item[]> {
    for (let day = dayOf(from); day <= to; day += DAY_MS) {
      for await (const keys of session.pages(ALARMS_OF_DAY, [int64(day)])) {
        const items = await Promise.all(
          keys.map(async (key) => {
            const row = await session.one(ALARM, keyOf(key));
            // A row may have only an acknowledgement, because its alarm has expired.
            const isNew = row?.['opened'] && Number(row['written_at']) / 1000 >= since;
            return isNew ? [itemOfAlarm(key, row)] : [];
          }),
        );
        yield items.flat();
      }
    }
  },
});

export type GraphTables = ReturnType<typeof createGraphTables>;

const bucketOf = (version: number) => Math.floor(version / BUCKET);

/** A change as the log has it. */
const itemOfChange = ({
  device,
  sensor,
  asset,
  parent,
  ...change
}: Item & { [id: string]: string }): Item => ({
  ...change,
  asset: asset ? vertexOf(asset) : null,
  parent: parent ? vertexOf(parent) : null,
  ...(device !== undefined && { device: vertexOf(device) }),
  ...(device !== undefined && sensor !== undefined && { sensor: vertexOf(device, sensor) }),
});

const keyOf = (row: Row) => [
  ...['device_id', 'sensor_id', 'rule_id'].map((name) => row[name].getBuffer()),
  int64(row['start'].getTime()),
];

function itemOfAlarm(key: Row, row: Row): Item {
  const [device = '', sensor, rule = ''] = keyOf(key).map(uuidText);
  const opened = row['opened'].getTime();
  return {
    do: 'alarm',
    device: vertexOf(device),
    name: row['device'] ?? null,
    sensor: vertexOf(device, sensor),
    sensor_name: row['sensor'] ?? null,
    episode: `${rule} ${key['start'].getTime()}`,
    hour: hourVertex(opened),
    opened,
    rule: row['rule'],
    severity: row['severity'],
    withdrawn: row['withdrawn'] === true,
  };
}
