import type { Presence } from '../api/types.ts';
import type { FleetDevice, FleetSensor } from './fleet.ts';

/** The state of a cell as one number. A judge gives current values the numbers below `SILENT`. Without one, they have `CURRENT`. */
export const CURRENT = 5;
export const SILENT = 12;
export const OFFLINE = SILENT + 1;
export const NO_VALUE = OFFLINE + 1;
export const NOT_LIVE = NO_VALUE + 1;
export const CELL_STATES = NOT_LIVE + 1;

/** Judges current values by `sigmas`, their deviation from usual values; null: not judged. */
export interface Judge {
  cellStateOf: (sigmas: number | null) => number;
  isFar: (sigmas: number | null) => boolean;
}

export const NO_JUDGE: Judge = { cellStateOf: () => CURRENT, isFar: () => false };

export function cellStateOf(
  {
    at,
    sigmas,
    device,
  }: {
    at: number;
    sigmas: number | null;
    device: { presence: Presence };
  },
  judge: Judge,
): number {
  if (device.presence === 'offline') return OFFLINE;
  if (device.presence === 'not_live') return NOT_LIVE;
  return at === 0 ? NO_VALUE : judge.cellStateOf(sigmas);
}

/** @returns the words for a state; undefined: the value is current */
export function describeOldCell(cellState: number): string | undefined {
  if (cellState === OFFLINE) return 'Device offline';
  if (cellState === NOT_LIVE) return 'Not live';
  if (cellState === SILENT) return 'Silent';
  return cellState === NO_VALUE ? 'No value yet' : undefined;
}

/** Sensors and devices of the fleet that need attention. */
export interface Faults {
  /** sensors that stand out by their values, the largest deviation first */
  far: FleetSensor[];
  /** silent sensors of devices that are online, the longest silence first */
  silent: FleetSensor[];
  /** offline devices; devices with the most sensors come first */
  offline: FleetDevice[];
  farCount: number;
  silentCount: number;
  /** sensors with a value that is not judged */
  unjudged: number;
  offlineSensors: number;
  notLiveSensors: number;
  sensorCount: number;
}

/** Shortest time in ms without a value after which a sensor is silent, and the number of its intervals. */
const SILENT_MS = 300_000;
const SILENT_INTERVALS = 5;
/** Maximum number of entries of each list of faults. */
const LISTED = 50;

/** @param intervalMs 0: none announced @returns age in ms from which a value is old */
export const oldAfterMs = (intervalMs: number): number => Math.max(SILENT_MS, SILENT_INTERVALS * intervalMs);

/** Without an announced interval nobody knows when a sensor should send: a door that stays closed has no new value all day. */
const isSilent = (now: number, { at, intervalMs }: FleetSensor): boolean =>
  at > 0 && intervalMs > 0 && now - at > oldAfterMs(intervalMs);

const sizeOf = ({ sigmas }: FleetSensor): number => Math.abs(sigmas ?? 0);

/** @param touch sets the cell state by the newest value, and requests a redraw */
export function refreshSilence(
  sensors: Iterable<FleetSensor>,
  now: number,
  touch: (sensor: FleetSensor) => void,
) {
  for (const sensor of sensors) {
    const silent = isSilent(now, sensor);
    if (silent === (sensor.cellState === SILENT) || sensor.device.presence !== 'online') continue;
    touch(sensor);
    if (silent) sensor.cellState = SILENT;
  }
}

/** @param matches null: all sensors count */
export function listFaults(
  {
    sensors,
    devices,
    judge,
  }: { sensors: ReadonlyMap<string, FleetSensor>; devices: ReadonlyMap<string, FleetDevice>; judge: Judge },
  matches: ((sensor: FleetSensor) => boolean) | null = null,
): Faults {
  const offline = [...devices.values()].filter(
    (device) => device.presence === 'offline' && (!matches || device.sensors.some(matches)),
  );
  const far: FleetSensor[] = [];
  const silent: FleetSensor[] = [];
  const counts = { sensorCount: 0, unjudged: 0, offlineSensors: 0, notLiveSensors: 0 };
  for (const sensor of sensors.values()) {
    if (matches && !matches(sensor)) continue;
    counts.sensorCount += 1;
    if (sensor.cellState === OFFLINE) counts.offlineSensors += 1;
    else if (sensor.cellState === NOT_LIVE) counts.notLiveSensors += 1;
    else if (sensor.cellState === SILENT) silent.push(sensor);
    else if (judge.isFar(sensor.sigmas)) far.push(sensor);
    else if (sensor.at > 0 && sensor.sigmas === null) counts.unjudged += 1;
  }
  return {
    ...counts,
    offline: offline.sort((a, b) => b.sensors.length - a.sensors.length),
    far: far.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, LISTED),
    silent: silent.toSorted((a, b) => a.at - b.at).slice(0, LISTED),
    farCount: far.length,
    silentCount: silent.length,
  };
}
