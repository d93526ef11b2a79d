import { uuidText } from '../../../schema/ids.js';

/** @import { Newest } from '../latest/reads.js' */
/** @import { Row } from '../sending/session.js' */

/**
 * The key of a device: the first two columns of every registry key.
 *
 * @typedef {{ group: number, bytes: Buffer }} DeviceKey `bytes`: the 16 bytes of the id
 */

/**
 * @typedef {object} DeviceRow
 * @property {string | null} name
 * @property {string | null} site
 * @property {string | null} label name of the device that people read
 * @property {string | null} state `online` or `offline`; null if no status was ever sent
 * @property {number | null} stateStamp write timestamp of the state, epoch µs; null also if it was not read
 * @property {number | null} session start of the current session as the device sent it, epoch ms; null: the device sent no session
 * @property {number | null} sessionStamp write timestamp of the session, epoch µs; null also if it was not read
 * @property {number[]} endedSessions starts of sessions that have ended, the newest last; empty also if they were not read
 * @property {number} clockOffset the clock of the device minus that of Millrace in ms; 0: no difference is
 *   known, or the column was not read
 * @property {number} stamp greatest write timestamp of state, session and description, epoch µs; 0 also if it was not read
 * @property {number | null} describedAt epoch ms at which the device was last described over HTTP; null also if the column was not read
 * @property {number | null} lastSeen epoch ms of the receipt of the last message, precise to a minute
 * @property {number} registeredAt epoch ms
 * @property {number | null} retiredAt epoch ms; null: never, or the column was not read
 */

/**
 * @typedef {object} SensorRow
 * @property {string} id
 * @property {string | null} deviceName
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} site
 * @property {string | null} label name of the sensor that people read
 * @property {number | null} intervalMs expected time between two samples
 * @property {number | null} registeredAt epoch ms; null for a row that was written while its device was being retired
 * @property {number | null} ts epoch ms of the newest value
 * @property {number | null} value the newest value
 */

const STAMPS = ['state_stamp', 'session_stamp', 'described_at_stamp'];

/** @param {Row} row @returns {DeviceRow} */
export const deviceRow = (row) => ({
  name: row['name'],
  site: row['site'],
  label: row['label'],
  state: row['state'],
  stateStamp: row['state_stamp'] ? Number(row['state_stamp']) : null,
  session: row['session']?.getTime() ?? null,
  sessionStamp: row['session_stamp'] ? Number(row['session_stamp']) : null,
  endedSessions: row['ended_sessions'] ? JSON.parse(row['ended_sessions']) : [],
  clockOffset: Number(row['clock_offset'] ?? 0),
  stamp: Math.max(...STAMPS.map((column) => Number(row[column] ?? 0))),
  describedAt: row['described_at']?.getTime() ?? null,
  lastSeen: row['last_seen']?.getTime() ?? null,
  registeredAt: row['registered_at'].getTime(),
  retiredAt: row['retired_at']?.getTime() ?? null,
});

/**
 * @param {Row} row row of `sensor`
 * @param {Map<string, Newest>} [newest] newest values of the device, by sensor id
 * @returns {SensorRow}
 */
export function sensorRow(row, newest) {
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
