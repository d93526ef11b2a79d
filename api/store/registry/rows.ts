import { type DeviceBytes, uuidText } from '../../../schema/ids.ts';
import { greaterStamp, readStamp, type Stamp, stampOf } from '../cql-values.ts';
import type { Newest } from '../devices/latest-rows.ts';
import type { Row } from '../sending/session.ts';

/** The first two columns of every registry key. `bytes`: the 16 bytes of the id */
export type DeviceKey = { group: number; bytes: DeviceBytes };

export interface DeviceRow {
  name: string | null;
  site: string | null;
  label: string | null;
  /** `online` or `offline`; null if no status was ever sent */
  state: string | null;
  /** null also if it was not read */
  stateStamp: Stamp | null;
  /** start of the current session as the device sent it, epoch ms; null: the device sent no session */
  session: number | null;
  /** null also if it was not read */
  sessionStamp: Stamp | null;
  /** starts of sessions that have ended, the newest last; empty also if they were not read */
  endedSessions: number[];
  /** the clock of the device minus that of Millrace in ms; 0: no difference is known, or the column was not read */
  clockOffset: number;
  /** greatest write timestamp of state, session and description; 0 also if it was not read */
  stamp: Stamp;
  /** epoch ms at which the device was last described over HTTP; null also if the column was not read */
  describedAt: number | null;
  /** epoch ms of the receipt of the last message, precise to a minute */
  lastSeen: number | null;
  /** epoch ms */
  registeredAt: number;
  /** epoch ms; null: never, or the column was not read */
  retiredAt: number | null;
}

export interface SensorRow {
  id: string;
  deviceName: string | null;
  name: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  label: string | null;
  /** expected time between two samples */
  intervalMs: number | null;
  /** epoch ms; null for a row that was written while its device was being retired */
  registeredAt: number | null;
  ts: number | null;
  value: number | null;
}

const STAMPS = ['state_stamp', 'session_stamp', 'described_at_stamp'];

export const deviceRow = (row: Row): DeviceRow => ({
  name: row['name'],
  site: row['site'],
  label: row['label'],
  state: row['state'],
  stateStamp: row['state_stamp'] ? readStamp(row['state_stamp']) : null,
  session: row['session']?.getTime() ?? null,
  sessionStamp: row['session_stamp'] ? readStamp(row['session_stamp']) : null,
  endedSessions: row['ended_sessions'] ? JSON.parse(row['ended_sessions']) : [],
  clockOffset: Number(row['clock_offset'] ?? 0),
  stamp: STAMPS.map((column) => readStamp(row[column] ?? 0)).reduce(greaterStamp, stampOf(0)),
  describedAt: row['described_at']?.getTime() ?? null,
  lastSeen: row['last_seen']?.getTime() ?? null,
  registeredAt: row['registered_at'].getTime(),
  retiredAt: row['retired_at']?.getTime() ?? null,
});

export function sensorRow(row: Row, newest?: Map<string, Newest>): SensorRow {
  const id = uuidText(row['sensor_id'].getBuffer());
  const { ts = null, value = null } = newest?.get(id) ?? {};
  return {
    id,
    deviceName: row['device'],
    name: row['name'],
    type: row['type'],
    unit: row['unit'],
    site: row['site'],
    label: row['label'],
    intervalMs: row['interval_ms'],
    registeredAt: row['registered_at']?.getTime() ?? null,
    ts,
    value,
  };
}
