import type { DeviceEvent, DeviceItem, LatestItem } from '../../api/types.ts';
import type { Shape } from '../../chart/shape.ts';

export const HOUR_MS = 3_600_000;
/** Number of hours before the last hour from which the usual range is computed. */
export const HOURS_BEFORE = 5;
/** Width of a bin. */
export const BIN_MS = 300_000;
/** Minimum number of bins for a usual range. A sensor with fewer bins is not judged. */
const LEAST_BINS = 12;
/** Share of the outermost bins that the usual range leaves out. Then half of the range is added as a margin at each side. */
const OUTERMOST = 0.05;
const AIR = 0.5;
/** Minimum margin as a share of the value, so that a constant value may change a little. */
const LEAST_AIR = 0.001;

/** Bins, oldest first. */
export type Bins = Pick<Shape, 'ts' | 'avg'>;

interface SensorChange {
  /** number of times that the value left its usual range or returned */
  crossings: number;
  /** whether the newest bin is outside of the usual range */
  isOut: boolean;
  /** time of the last crossing in epoch ms */
  at: number;
  /** lower end of the usual range */
  low: number;
  high: number;
  /** the value farthest from the usual range */
  farthest: number;
}

/**
 * @param since start of the last hour in epoch ms
 * @returns null: the value stayed in its usual range; `unjudged`: the sensor has too little history
 */
export function changeOf({ ts, avg }: Bins, since: number): SensorChange | 'unjudged' | null {
  const bins = ts.flatMap((at, index) => {
    const value = avg[index] ?? null;
    return value === null ? [] : [{ at, value }];
  });
  const before = bins.filter(({ at }) => at < since).map(({ value }) => value);
  if (before.length < LEAST_BINS) return 'unjudged';
  const { low, high } = usualRange(before);
  const beyond = (value: number) => Math.max(low - value, value - high, 0);
  let [crossings, isOut, at, farthest] = [0, false, since, low];
  for (const bin of bins.filter((each) => each.at >= since)) {
    if (beyond(bin.value) > beyond(farthest)) farthest = bin.value;
    if (beyond(bin.value) > 0 === isOut) continue;
    isOut = !isOut;
    crossings += 1;
    at = bin.at;
  }
  return crossings === 0 ? null : { crossings, isOut, at, low, high, farthest };
}

function usualRange(values: number[]): { low: number; high: number } {
  const ordered = values.toSorted((a, b) => a - b);
  const cut = Math.floor(ordered.length * OUTERMOST);
  const [low = 0, high = 0] = [ordered[cut], ordered[ordered.length - 1 - cut]];
  const air = Math.max((high - low) * AIR, Math.max(Math.abs(low), Math.abs(high)) * LEAST_AIR);
  return { low: low - air, high: high + air };
}

/** @returns the earliest time in epoch ms at which a sensor without a gap can be judged; null: it has no bins */
export const judgedFrom = ({ ts: [first] }: Bins): number | null =>
  first === undefined ? null : first + LEAST_BINS * BIN_MS + HOUR_MS;

/** The changes of the state of a device. `at`: time of the last change in epoch ms; `times`: number of changes */
type DeviceChange = { isOnline: boolean; at: number; times: number };

/** @param since time in epoch ms from which events count @returns null: the device did not go online or offline */
export function cameOrWent(events: DeviceEvent[], since: number): DeviceChange | null {
  const within = events.filter(({ ts, kind }) => kind !== 'birth' && Date.parse(ts) >= since);
  // A device that connects again without a break announces that it is online while it is online already.
  const changes = within.filter(({ kind }, index) => kind !== within[index + 1]?.kind);
  const [newest] = changes;
  if (!newest) return null;
  return { isOnline: newest.kind === 'online', at: Date.parse(newest.ts), times: changes.length };
}

export type ChangedSensor = { item: LatestItem; change: SensorChange };
export type ChangedDevice = { device: DeviceItem; change: DeviceChange };

/** Minimum number of devices of a group. */
const LEAST_TOGETHER = 4;
/** Time within which the devices of a group changed. */
const TOGETHER_MS = 300_000;
/** Maximum number of changes of a device in a group. A device with more has a problem of its own. */
const MOST_CHANGES = 3;

/**
 * Groups devices that came or went together, such as after a restart of the system.
 *
 * @param devices newest change first
 * @returns groups, newest change first; a device that changed alone is a group of one
 */
export function together(devices: ChangedDevice[]): [ChangedDevice, ...ChangedDevice[]][] {
  const groups: [ChangedDevice, ...ChangedDevice[]][] = [];
  for (const changed of devices) {
    const { change } = changed;
    const group = groups.find(
      ([{ change: newest }]) =>
        newest.isOnline === change.isOnline &&
        newest.at - change.at <= TOGETHER_MS &&
        Math.max(newest.times, change.times) <= MOST_CHANGES,
    );
    if (group) group.push(changed);
    else groups.push([changed]);
  }
  return groups
    .flatMap((group) =>
      group.length < LEAST_TOGETHER ? group.map((changed): [ChangedDevice] => [changed]) : [group],
    )
    .sort(([a], [b]) => b.change.at - a.change.at);
}
