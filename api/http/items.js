import { formatTime } from '../../common/times.js';
import { isSilent } from '../observability/heartbeat.js';

/** @import { LiveItem } from '../live/messages.js' */
/** @import { Beat } from '../observability/heartbeat.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { DeviceEvent } from '../store/events.js' */
/** @import { DatabaseNode } from '../store/index.js' */
/** @import { ProcessRow } from '../store/processes.js' */
/** @import { DeviceRow, SensorRow } from '../store/registry/rows.js' */
/** @import { FleetCount } from './routes/fleet.js' */

/** A device without a status counts as online if its last message is younger than this, in ms. */
const SEEN_WITHIN_MS = 300_000;

/** @param {number | null} ms epoch ms */
const optionalTime = (ms) => (ms === null ? null : formatTime(ms));

/** @param {LatestRow} row @returns {LiveItem} */
export const latestItem = (row) => ({
  device_id: row.deviceId,
  sensor_id: row.id,
  device: row.deviceName,
  name: row.name,
  type: row.type,
  unit: row.unit,
  site: row.site,
  ts: optionalTime(row.ts),
  value: row.value,
});

/** @param {SensorRow} row */
export const sensorItem = (row) => ({
  sensor_id: row.id,
  name: row.name,
  type: row.type,
  unit: row.unit,
  interval_ms: row.intervalMs,
  ts: optionalTime(row.ts),
  value: row.value,
});

/** @param {DeviceEvent} event */
export const eventItem = ({ ts, kind }) => ({ ts: formatTime(ts), kind });

/** @param {Pick<DeviceRow, 'state' | 'lastSeen'>} row @param {number} now epoch ms */
export const isOnline = ({ state, lastSeen }, now) =>
  state === null ? lastSeen !== null && now - lastSeen < SEEN_WITHIN_MS : state === 'online';

/** @param {DeviceRow & { id: string }} row @param {number} now epoch ms */
export const deviceItem = (row, now) => ({
  device_id: row.id,
  name: row.name,
  site: row.site,
  online: isOnline(row, now),
  last_seen: optionalTime(row.lastSeen),
});

/** @param {FleetCount} count */
export const fleetItem = ({ devices, sensors, types, sites }) => ({
  devices,
  sensors,
  by_type: Object.fromEntries(types),
  by_site: Object.fromEntries(sites),
});

/** @param {DatabaseNode} node */
export const nodeItem = ({ address, dataCenter, up }) => ({ address, data_center: dataCenter, up });

/** @param {ProcessRow} row @param {number} now epoch ms */
export function processItem(row, now) {
  const { clientId, role, version, startedAt, seenAt, stats } = row;
  /** @type {Beat} */
  const { window, window_limit, waiting, broker, shares: _, ...rates } = JSON.parse(stats);
  return {
    client_id: clientId,
    role,
    version,
    since: formatTime(startedAt),
    seen: formatTime(seenAt),
    stale: isSilent(row, now),
    ...rates,
    pressure: { window, window_limit, waiting },
    broker,
  };
}
