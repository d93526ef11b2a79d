import type { Config } from '../../common/settings/config.ts';
import { formatTime } from '../../common/times.ts';
import type { LiveItem } from '../live/messages.ts';
import type { Beat } from '../observability/heartbeat.ts';
import { isSilent, NO_MEASUREMENTS } from '../observability/index.ts';
import type { LatestRow } from '../store/devices/latest-rows.ts';
import type { DeviceEvent } from '../store/events.ts';
import type { DatabaseNode } from '../store/index.ts';
import type { ProcessRow } from '../store/processes.ts';
import type { DeviceRow, SensorRow } from '../store/registry/rows.ts';
import type { FleetCount } from './routes/fleet.ts';

/** In ms. A device without a status counts as online if its last message is younger. */
const SEEN_WITHIN_MS = 300_000;

export const optionalTime = (ms: number | null) => (ms === null ? null : formatTime(ms));

export const latestItem = (row: LatestRow): LiveItem => ({
  device_id: row.deviceId,
  sensor_id: row.id,
  device: row.deviceName,
  name: row.name,
  type: row.type,
  unit: row.unit,
  site: row.site,
  // JSON omits a member that is `undefined`. A snapshot has an item for each sensor, so unknown intervals are omitted to save bytes.
  interval_ms: row.intervalMs ?? undefined,
  ts: optionalTime(row.ts),
  value: row.value,
});

export const sensorItem = (row: SensorRow) => ({
  sensor_id: row.id,
  name: row.name,
  type: row.type,
  unit: row.unit,
  label: row.label,
  interval_ms: row.intervalMs,
  ts: optionalTime(row.ts),
  value: row.value,
});

export const eventItem = ({ ts, kind, clockOffset }: DeviceEvent) => ({
  ts: formatTime(ts),
  kind,
  ...(clockOffset === undefined ? {} : { clock_offset_ms: clockOffset }),
});

export type Presence = 'online' | 'offline' | 'not_live';

/**
 * A device that announced no state is online for five minutes after a message. Then it is not live: nobody
 * knows whether it should send.
 */
export const presenceOf = (
  { state, lastSeen }: Pick<DeviceRow, 'state' | 'lastSeen'>,
  now: number,
): Presence =>
  state === null
    ? lastSeen !== null && now - lastSeen < SEEN_WITHIN_MS
      ? 'online'
      : 'not_live'
    : state === 'online'
      ? 'online'
      : 'offline';

export function deviceItem(row: DeviceRow & { id: string }, now: number) {
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

export const fleetItem = ({ devices, sensors, types, sites }: FleetCount) => ({
  devices,
  sensors,
  by_type: Object.fromEntries(types),
  by_site: Object.fromEntries(sites),
});

export const nodeItem = ({ address, dataCenter, up }: DatabaseNode) => ({
  address,
  data_center: dataCenter,
  up,
});

export function processItem(row: ProcessRow, now: number) {
  const { clientId, role, version, startedAt, seenAt, stats } = row;
  const {
    window,
    window_limit,
    waiting,
    journal_ms = 0,
    broker,
    measurements = NO_MEASUREMENTS,
    shares: _shares,
    stream: _stream,
    ...rates
  }: Beat = JSON.parse(stats);
  return {
    client_id: clientId,
    role,
    version,
    since: formatTime(startedAt),
    seen: formatTime(seenAt),
    stale: isSilent(row, now),
    ...rates,
    measurements,
    pressure: { window, window_limit, waiting, journal_ms },
    broker,
  };
}

/**
 * State of streaming out of the whole installation. `rows`: processes that are not silent. `streamed`: `streamed_until` of each group of
 * devices, in epoch ms. Null: no process streams.
 */
export function streamItem(
  rows: ProcessRow[],
  streamed: Array<number | null>,
): { ok: boolean; lag_ms: number; queue_bytes: number; queue_limit: number; until: string | null } | null {
  const states = rows.flatMap(({ stats }) => {
    const { stream }: Beat = JSON.parse(stats);
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

/** These stand for all network interfaces of a machine. */
const ALL_ADDRESSES = new Set(['0.0.0.0', '::', '[::]']);

const MQTT_PORT = 1883;
const MQTT_TLS_PORT = 8883;

export type BrokerAddress = () => ReturnType<typeof mqttItem>;

/** `port`: of the embedded broker. Null: this process knows no broker. */
export function mqttItem(
  { mqtt, role }: Pick<Config, 'mqtt' | 'role'>,
  port: number,
): { embedded: boolean; host: string | null; port: number; tls: boolean; credentials: boolean } | null {
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
