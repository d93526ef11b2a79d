import { keyOf } from '../../api/stream/index.ts';
import { formatCounted } from '../../format.ts';
import { SILENT } from '../../state/cells.ts';
import type { FleetDevice, FleetSensor } from '../../state/fleet.ts';
import type { AssetMember, OpenAlarm } from './api.ts';

/** What the dashboard knows of the devices and sensors at an asset and below it. */
export interface Condition {
  devices: number;
  sensors: number;
  /** open alarms that are not shelved */
  alarms: number;
  criticalAlarms: number;
  offline: number;
  notLive: number;
  silent: number;
  /** devices without a value of any sensor that are not known to be offline */
  withoutValues: number;
}

export const NO_MEMBERS: Condition = {
  devices: 0,
  sensors: 0,
  alarms: 0,
  criticalAlarms: 0,
  offline: 0,
  notLive: 0,
  silent: 0,
  withoutValues: 0,
};

/** The part of the live fleet that the conditions need. */
export interface KnownFleet {
  devices: ReadonlyMap<string, FleetDevice>;
  sensors: ReadonlyMap<string, FleetSensor>;
  /** ids of offline devices, also of those without sensors */
  offline: ReadonlySet<string>;
  /** false: `devices` and `sensors` lack some of the fleet */
  isWhole: boolean;
}

/** @returns the sensors that have the place of the member */
export function sensorsOf(
  { device_id, sensor_id, own_sensors }: AssetMember,
  { devices, sensors }: Pick<KnownFleet, 'devices' | 'sensors'>,
): FleetSensor[] {
  if (sensor_id !== null) {
    const sensor = sensors.get(keyOf({ device_id, sensor_id }));
    return sensor ? [sensor] : [];
  }
  const all = devices.get(device_id)?.sensors ?? [];
  return own_sensors.length === 0 ? all : all.filter(({ id }) => !own_sensors.includes(id));
}

/** @returns types of sensors by frequency; `unit` null: they have none, or different ones */
export function typesOf(
  sensors: readonly { type: string | null; unit: string | null }[],
): { type: string; unit: string | null }[] {
  const found: Map<string, { count: number; units: Set<string | null> }> = new Map();
  for (const { type, unit } of sensors) {
    if (type === null) continue;
    const known = found.get(type) ?? { count: 0, units: new Set() };
    known.count += 1;
    known.units.add(unit);
    found.set(type, known);
  }
  return [...found]
    .sort(([a, { count: ofA }], [b, { count: ofB }]) => ofB - ofA || a.localeCompare(b))
    .map(([type, { units }]) => ({ type, unit: units.size === 1 ? ([...units][0] ?? null) : null }));
}

/**
 * Judges an asset and each of its children by the members below them.
 *
 * @param path of the asset; null: of the whole tree
 * @returns conditions of the children by name
 */
export function judge(
  members: readonly AssetMember[],
  { path, fleet, alarms }: { path: string | null; fleet: KnownFleet; alarms: AlarmCounts },
): { whole: Condition; children: Map<string, Condition> } {
  const whole = { ...NO_MEMBERS };
  const children: Map<string, Condition> = new Map();
  for (const member of members) {
    const one = conditionOf(member, fleet, alarms);
    add(whole, one);
    const name = childOn(member.path, path);
    if (name === null) continue;
    const child = children.get(name) ?? { ...NO_MEMBERS };
    add(child, one);
    children.set(name, child);
  }
  return { whole, children };
}

/** @returns name of the child of an asset through which a path leads; null: the path ends at the asset */
export function childOn(path: string, asset: string | null): string | null {
  const rest = asset === null ? path : path.slice(asset.length + 1);
  return rest.split('/')[0] || null;
}

function conditionOf(member: AssetMember, fleet: KnownFleet, alarms: AlarmCounts): Condition {
  const condition = { ...NO_MEMBERS };
  const { device_id, sensor_id } = member;
  if (sensor_id === null) {
    const device = fleet.devices.get(device_id);
    const presence = fleet.offline.has(device_id) ? 'offline' : device?.presence;
    condition.devices = 1;
    if (presence === 'offline') condition.offline = 1;
    else if (presence === 'not_live') condition.notLive = 1;
    else if (fleet.isWhole && !device?.sensors.some(({ at }) => at > 0)) condition.withoutValues = 1;
  }
  for (const { key, cellState } of sensorsOf(member, fleet)) {
    condition.sensors += 1;
    if (cellState === SILENT) condition.silent += 1;
    const { open = 0, critical = 0 } = alarms.get(key) ?? {};
    condition.alarms += open;
    condition.criticalAlarms += critical;
  }
  return condition;
}

/** By the key of the sensor. */
type AlarmCounts = ReadonlyMap<string, { open: number; critical: number }>;

export function countAlarms(alarms: readonly OpenAlarm[]): AlarmCounts {
  const counts: Map<string, { open: number; critical: number }> = new Map();
  for (const alarm of alarms) {
    const { open, critical } = counts.get(keyOf(alarm)) ?? { open: 0, critical: 0 };
    counts.set(keyOf(alarm), {
      open: open + 1,
      critical: critical + (alarm.severity === 'critical' ? 1 : 0),
    });
  }
  return counts;
}

function add(sum: Condition, one: Condition) {
  for (const name of Object.keys(sum) as (keyof Condition)[]) sum[name] += one[name];
}

/** The counts that make a condition worse, the gravest first. */
const FAULTS: readonly (keyof Condition)[] = [
  'criticalAlarms',
  'alarms',
  'offline',
  'silent',
  'notLive',
  'withoutValues',
];

/** @returns items with the worst condition first; equal ones by name */
export function worstFirst<T extends { name: string; condition: Condition }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => {
    for (const fault of FAULTS) {
      const difference = b.condition[fault] - a.condition[fault];
      if (difference !== 0) return difference;
    }
    return a.name.localeCompare(b.name, undefined, { numeric: true });
  });
}

export type Tone = 'bad' | 'warn' | 'quiet' | 'good';

/** @returns the faults in words, the gravest first, and how grave they are */
export function conditionWords({
  devices,
  sensors,
  alarms,
  criticalAlarms,
  offline,
  notLive,
  silent,
  withoutValues,
}: Condition): { text: string; tone: Tone } {
  if (devices + sensors === 0) return { text: 'No devices', tone: 'quiet' };
  const faults = [
    alarms > 0 && formatCounted(alarms, 'alarm'),
    offline > 0 && `${formatCounted(offline, 'device')} offline`,
    silent > 0 && `${formatCounted(silent, 'sensor')} silent`,
    notLive > 0 && `${formatCounted(notLive, 'device')} not live`,
    withoutValues > 0 && `${formatCounted(withoutValues, 'device')} without values`,
  ].filter((text) => text !== false);
  if (faults.length === 0) return { text: 'All in order', tone: 'good' };
  const isWarning = alarms + offline + silent > 0;
  return { text: faults.join(' · '), tone: criticalAlarms > 0 ? 'bad' : isWarning ? 'warn' : 'quiet' };
}
