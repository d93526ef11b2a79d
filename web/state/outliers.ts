import type { Presence } from '../api/types.ts';
import { formatCount, formatCounted } from '../format.ts';
import type { FleetDevice, FleetSensor } from './fleet.ts';

/**
 * `sigmas`, computed by the server, states how unusual a value is: its distance from the mean of the sensor at this
 * hour of the week, in standard deviations. See docs/explanation/baselines.md.
 */

/** Deviations in sigmas, from each of which on the color is one step stronger. */
const STEPS = [1.4, 2.2, 3.2, 4.5, 7];

/** Number of color steps above and below the mean. */
export const LEVELS = STEPS.length;

/** Deviation in sigmas from which a sensor is an outlier, as for `GET /outliers`. */
const OUTLIER_SIGMAS = 4.5;

/** @returns color step: -5 is far below the mean, 0 is as usual, 5 is far above the mean */
export function levelOf(sigmas: number): number {
  const size = Math.abs(sigmas);
  let level = 0;
  while (level < LEVELS && size >= Number(STEPS[level])) level += 1;
  return sigmas < 0 ? -level : level;
}

/**
 * The state of a cell as one number, so that the painter can draw cells color by color. 0 to 10 is the scale from far
 * below to far above, and 5 is normal. The following states have no deviation.
 */
export const NORMAL = LEVELS;
export const NOT_JUDGED = 2 * LEVELS + 1;
export const SILENT = NOT_JUDGED + 1;
export const OFFLINE = SILENT + 1;
export const NO_VALUE = OFFLINE + 1;
export const NOT_LIVE = NO_VALUE + 1;
export const CELL_STATES = NOT_LIVE + 1;

export function cellStateOf({
  at,
  sigmas,
  device,
}: {
  at: number;
  sigmas: number | null;
  device: { presence: Presence };
}): number {
  if (device.presence === 'offline') return OFFLINE;
  if (device.presence === 'not_live') return NOT_LIVE;
  if (at === 0) return NO_VALUE;
  return sigmas === null ? NOT_JUDGED : NORMAL + levelOf(sigmas);
}

export function describeCellState(cellState: number): string {
  if (cellState === OFFLINE) return 'Device offline';
  if (cellState === NOT_LIVE) return 'Not live';
  if (cellState === SILENT) return 'Silent';
  if (cellState === NO_VALUE) return 'No value yet';
  if (cellState === NOT_JUDGED) return 'Not judged yet';
  const size = Math.abs(cellState - NORMAL);
  if (size <= 1) return 'As usual';
  const words = `${size >= 4 ? 'far ' : size === 2 ? 'a little ' : ''}${cellState < NORMAL ? 'below' : 'above'} its usual`;
  return words.replace(/^./, (first) => first.toUpperCase());
}

/** Sensors and devices of the fleet that need attention. */
export interface Faults {
  /** outliers, the largest deviation first */
  far: FleetSensor[];
  /** silent sensors of devices that are online, the longest silence first */
  silent: FleetSensor[];
  /** offline devices; devices with the most sensors come first */
  offline: FleetDevice[];
  farCount: number;
  silentCount: number;
  /** sensors with a value but without a baseline */
  unjudged: number;
  offlineSensors: number;
  notLiveSensors: number;
  /** all counted sensors */
  sensorCount: number;
}

/** Shortest time in ms without a value after which a sensor is silent, and the number of its intervals. */
const SILENT_MS = 300_000;
const SILENT_INTERVALS = 5;
/** Maximum number of entries of each list of faults. */
const LISTED = 50;

/**
 * @param intervalMs announced interval of the sensor in ms; 0: none
 * @returns age in ms from which the newest value of the sensor is old
 */
export const oldAfterMs = (intervalMs: number): number => Math.max(SILENT_MS, SILENT_INTERVALS * intervalMs);

/**
 * A sensor without an announced interval is never silent, because nobody knows when it should send: a door that stays closed
 * has no new value all day.
 *
 * @param now current time in epoch ms
 */
const isSilent = (now: number, { at, intervalMs }: FleetSensor): boolean =>
  at > 0 && intervalMs > 0 && now - at > oldAfterMs(intervalMs);

/** @returns absolute deviation in sigmas */
const sizeOf = ({ sigmas }: FleetSensor): number => Math.abs(sigmas ?? 0);

export const isFarOff = (sensor: FleetSensor) => sizeOf(sensor) >= OUTLIER_SIGMAS;

/**
 * Sets the cell state of sensors that became silent or send again.
 *
 * @param now current time in epoch ms
 * @param touch sets the cell state by the newest value, and requests a redraw
 */
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

/**
 * @param matches filter of the sensors; null: all sensors count
 * @returns the sensors and devices of the fleet that need attention, by cell state
 */
export function listFaults(
  {
    sensors,
    devices,
  }: { sensors: ReadonlyMap<string, FleetSensor>; devices: ReadonlyMap<string, FleetDevice> },
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
    else if (isFarOff(sensor)) far.push(sensor);
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

/** The text about the history that the first judgment of a sensor needs. */
export const TO_BE_JUDGED = 'that needs a day of history';

/** The text in place of an all-clear while no values arrive. */
export const OLD_VALUES = 'The values are old. Present outliers are not known.';

/** @returns the text while there are no outliers: an all-clear only for judged sensors */
export function nothingFar({ sensors, judged }: { sensors: number; judged: number }): string {
  if (judged >= sensors) return 'Nothing stands out.';
  if (judged <= 0) return 'Nothing needs attention. Usual values are known after a day of history.';
  return `Nothing stands out among ${formatCount(judged)} of ${formatCounted(sensors, 'sensor')}. The others are not judged yet.`;
}
