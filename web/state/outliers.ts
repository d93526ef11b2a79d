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
const FAR = 4.5;

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
export const CELL_STATES = NO_VALUE + 1;

export function cellStateOf({
  at,
  sigmas,
  device,
}: {
  at: number;
  sigmas: number | null;
  device: { offline: boolean };
}): number {
  if (device.offline) return OFFLINE;
  if (at === 0) return NO_VALUE;
  return sigmas === null ? NOT_JUDGED : NORMAL + levelOf(sigmas);
}

/** @returns the cell state as text */
export function describeCellState(cellState: number): string {
  if (cellState === OFFLINE) return 'Device offline';
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
  /** sensors judged by a provisional baseline */
  provisional: number;
  offlineSensors: number;
}

/** Time in ms without a value after which a sensor is silent. For a slow sensor, the time is several intervals of the sensor. */
const SILENT_MS = 300_000;
const SILENT_INTERVALS = 5;
/** Maximum number of entries of each list of faults. */
const LISTED = 50;

/**
 * @param intervalMs interval of the sensor in ms; 0: unknown
 * @returns time in ms without a value after which the sensor counts as silent
 */
export const silentAfterMs = (intervalMs: number): number =>
  Math.max(SILENT_MS, SILENT_INTERVALS * intervalMs);

/** @param now current time in epoch ms */
const isSilent = (now: number, { at, gapMs, intervalMs }: FleetSensor): boolean =>
  at > 0 && now - at > silentAfterMs(Math.max(gapMs, intervalMs));

/** @returns absolute deviation in sigmas */
const sizeOf = ({ sigmas }: FleetSensor): number => Math.abs(sigmas ?? 0);

export const isFarOff = (sensor: FleetSensor) => sizeOf(sensor) >= FAR;

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
    if (silent === (sensor.cellState === SILENT) || sensor.cellState === OFFLINE) continue;
    touch(sensor);
    if (silent) sensor.cellState = SILENT;
  }
}

/** @returns the sensors and devices of the fleet that need attention, by cell state */
export function listFaults({
  sensors,
  devices,
}: {
  sensors: ReadonlyMap<string, FleetSensor>;
  devices: ReadonlyMap<string, FleetDevice>;
}): Faults {
  const offline = [...devices.values()].filter((device) => device.offline);
  const far: FleetSensor[] = [];
  const silent: FleetSensor[] = [];
  const counts = { unjudged: 0, provisional: 0, offlineSensors: 0 };
  for (const sensor of sensors.values()) {
    if (sensor.provisional) counts.provisional += 1;
    if (sensor.cellState === OFFLINE) counts.offlineSensors += 1;
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

/** The text about the values that the first judgment of a sensor needs. */
export const TO_BE_JUDGED = 'that needs 30 values, and a minute of them';

/** @param count number of sensors that are judged by a provisional baseline */
export const provisionalText = (count: number): string =>
  `Provisional: ${formatCounted(count, 'sensor is', 'sensors are')} judged by the last hour or hours, until a day of history is learned.`;

/** The text in place of an all-clear while no values arrive. */
export const OLD_VALUES = 'The values are old. What stands out now is not known.';

/** @returns the text while there are no outliers: an all-clear only for judged sensors */
export function nothingFar({ sensors, judged }: { sensors: number; judged: number }): string {
  if (judged >= sensors) return 'Nothing stands out.';
  if (judged <= 0) return `${formatCounted(sensors, 'sensor')} not judged yet: ${TO_BE_JUDGED}.`;
  return `Nothing stands out among ${formatCount(judged)} of ${formatCounted(sensors, 'sensor')}. The others are not judged yet.`;
}
