import type { Judge } from '../../state/cells.ts';
import { OFFLINE, SILENT } from '../../state/cells.ts';
import type { FleetSensor } from '../../state/fleet.ts';
import type { Matcher } from '../../state/lists.ts';
import { sensorMatcher } from '../../state/lists.ts';

type Fault = 'far' | 'silent' | 'offline';

const FAULTS: Record<Fault, (sensor: FleetSensor, judge: Judge) => boolean> = {
  far: ({ cellState, sigmas }, judge) => cellState < SILENT && judge.isFar(sigmas),
  silent: ({ cellState }) => cellState === SILENT,
  offline: ({ cellState }) => cellState === OFFLINE,
};

/** The list next to the wall has a group for each kind of fault, so `look` does not filter it. @returns null: all sensors match */
export function listMatcherOf(query: URLSearchParams, judge: Judge): Matcher | null {
  const filters = new URLSearchParams(query);
  filters.delete('look');
  return matcherOf(filters, judge);
}

/** List filter, device state, and kind of fault of the address. @returns null: all sensors match */
export function matcherOf(query: URLSearchParams, judge: Judge): Matcher | null {
  const matches = sensorMatcher(query);
  const [look, state] = ['look', 'state'].map((name) => query.get(name) ?? '');
  if (!(matches || look || state)) return null;
  const isFaulty = FAULTS[look as Fault];
  return (sensor) =>
    (!matches || matches(sensor)) &&
    (!state || sensor.device.presence === state) &&
    (!isFaulty || isFaulty(sensor, judge));
}
