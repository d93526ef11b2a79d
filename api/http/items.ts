import { formatTime } from '../../common/times.js';
import { isSilent, NO_MEASUREMENTS } from '../observability/index.js';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { LiveItem } from '../live/messages.js' */
/** @import { Beat } from '../observability/heartbeat.js' */
/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { DeviceEvent } from '../store/events.js' */
/** @import { DatabaseNode } from '../store/index.js' */
/** @import { ProcessRow } from '../store/processes.js' */
/** @import { DeviceRow, SensorRow } from '../store/registry/rows.js' */
/** @import { FleetCount } from './routes/fleet.js' */

/** Time in ms. A device without a status counts as online if its last message is younger. */
const SEEN_WITHIN_MS = 300_000;

/** @param {number | null} ms epoch ms */
export const optionalTime = (ms) => (ms === null ? null : formatTime(ms));

/** @param {LatestRow} row @returns {LiveItem} */
export const latestItem = (row) => ({
  device_id: row.deviceId,
  sensor_id: row.id,
  device: row.deviceName,
  name: row.name,
  type: row.type,
  unit: row.unit,
  site: row.site,
  // JSON omits a member that is `undefined`. A snapshot has an item for each sensor, so unknown intervals are omitted to save
  // bytes.
  interval_ms: row.intervalMs ?? undefined,
  ts: optionalTime(row.ts),
  value: row.value,
});

/** @param {SensorRow} row */
export const sensorItem = (row) => ({
  sensor_id: row.id,
  name: row.name,
  type: row.type,
  unit: row.unit,
  label: row.label,
  interval_ms: row.intervalMs,
  ts: optionalTime(row.ts),
  value: row.value,
});

/** @param {DeviceEvent} event */
export const eventItem = ({ ts, kind, clockOffset }) => ({
  ts: formatTime(ts),
  kind,
  ...(clockOffset === undefined ? {} : { clock_offset_ms: clockOffset }),
});

/**
 * Returns whether a device is online, by what it announced (birth, status or Sparkplug). A device that announced nothing is
 * online for five minutes after a message. Then it is not live: nobody knows whether it should send.
 *
 * @param {Pick<DeviceRow, 'state' | 'lastSeen'>} row
 * @param {number} now epoch ms
 * @returns {'online' | 'offline' | 'not_live'}
 */
export const presenceOf = ({ state, lastSeen }, now) =>
  state === null
    ? lastSeen !== null && now - lastSeen < SEEN_WITHIN_MS
      ? 'online'
      : 'not_live'
    : state === 'online'
      ? 'online'
      : 'offline';

/** @param {DeviceRow & { id: string }} row @param {number} now epoch ms */
export function deviceItem(row, now) {
  const state = presenceOf(row, now);
  return {
    device_id: row.id,
    name: row.name,
    site: row.site,
    label: row.label,
    state,
    online: state === 'online',
    last_seen: optionalTime(row.lastSeen),
  };
}

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
  const {
    window,
    window_limit,
    waiting,
    broker,
    measurements = NO_MEASUREMENTS,
    shares: _shares,
    stream: _stream,
    ...rates
  } = JSON.parse(stats);
  return {
    client_id: clientId,
    role,
    version,
    since: formatTime(startedAt),
    seen: formatTime(seenAt),
    stale: isSilent(row, now),
    ...rates,
    measurements,
    pressure: { window, window_limit, waiting },
    broker,
  };
}

/**
 * Formats the state of streaming out of the whole installation.
 *
 * @param {ProcessRow[]} rows rows of processes that are not silent
 * @param {Array<number | null>} streamed `streamed_until` of each group of devices, in epoch ms
 * @returns {{ ok: boolean, lag_ms: number, queue_bytes: number, queue_limit: number, until: string | null } | null} null: no
 *   process streams
 */
export function streamItem(rows, streamed) {
  const states = rows.flatMap(({ stats }) => {
    /** @type {Beat} */
    const { stream } = JSON.parse(stats);
    return stream ? [stream] : [];
  });
  if (states.length === 0) return null;
  const until = Math.min(...streamed.map((each) => each ?? Number.NaN));
  return {
    ok: states.every(({ ok }) => ok),
    lag_ms: Math.max(...states.map(({ lag_ms }) => lag_ms)),
    queue_bytes: states.reduce((sum, { queue_bytes }) => sum + queue_bytes, 0),
    queue_limit: states.reduce((sum, { queue_limit }) => sum + queue_limit, 0),
    until: Number.isNaN(until) ? null : formatTime(until),
  };
}

/** Listen addresses that stand for all network interfaces of a machine. */
const ALL_ADDRESSES = new Set(['0.0.0.0', '::', '[::]']);

const MQTT_PORT = 1883;
const MQTT_TLS_PORT = 8883;

/**
 * Describes the broker that devices connect to.
 *
 * @param {Pick<Config, 'mqtt' | 'role'>} config
 * @param {number} port of the embedded broker
 * @returns {{ embedded: boolean, host: string | null, port: number, tls: boolean, credentials: boolean } | null}
 *   null: this process knows no broker
 */
export function mqttItem({ mqtt, role }, port) {
  if (mqtt.url === undefined && role === 'http') return null;
  if (mqtt.url === undefined) {
    const host = ALL_ADDRESSES.has(mqtt.host) ? null : mqtt.host;
    return { embedded: true, host, port, tls: mqtt.tls !== null, credentials: mqtt.auth };
  }
  const { hostname, port: given, protocol } = new URL(mqtt.url);
  const tls = protocol === 'mqtts:';
  return {
    embedded: false,
    // An IPv6 address in a URL has brackets.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: given === '' ? (tls ? MQTT_TLS_PORT : MQTT_PORT) : Number(given),
    tls,
    credentials: mqtt.username !== undefined,
  };
}
