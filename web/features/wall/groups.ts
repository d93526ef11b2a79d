import type { FleetDevice, FleetSensor } from '../../state/fleet.ts';
import type { Matcher } from '../../state/lists.ts';
import { sorted } from '../../state/lists.ts';
import type { Place } from '../../state/places.ts';
import { isWithin, stepAt } from '../../state/places.ts';

/** The sensors of each device of a site, or of a place. `name`: the site, or the path of the place; null: without one */
interface Group {
  name: string | null;
  devices: FleetSensor[][];
}

/**
 * Groups matching sensors. `collar-2` comes before `collar-10`, and sensors without a site or place come last.
 *
 * @param devices their lists of sensors are sorted in place
 * @param level of places; null: the groups are the sites that devices announce
 */
export function sortGroups(
  devices: Iterable<FleetDevice>,
  { matches, level }: { matches: Matcher | null; level: string | null },
): Group[] {
  const groups: Map<string | null, FleetSensor[][]> = new Map();
  const groupOf = groupAt(level);
  for (const device of sorted([...devices], ({ name }) => name, false)) {
    const ofDevice: Map<string | null, FleetSensor[]> = new Map();
    for (const sensor of sensorsInOrder(device))
      if (!matches || matches(sensor)) append(ofDevice, groupOf(device, sensor), sensor);
    for (const [name, sensors] of ofDevice) append(groups, name, sensors);
  }
  const all = Array.from(groups, ([name, members]) => ({ name, devices: members }));
  return sorted(all, ({ name }) => name, false);
}

/** While places are not known, the groups are the sites. */
function groupAt(level: string | null): (device: FleetDevice, sensor: FleetSensor) => string | null {
  if (level === null) return ({ site }) => site;
  const known: Map<Place, string | null> = new Map();
  return ({ site }, { place }) => {
    if (!place) return place === undefined ? site : null;
    const path = known.get(place);
    if (path !== undefined) return path;
    known.set(place, stepAt(place, level));
    return stepAt(place, level);
  };
}

function append<T>(lists: Map<string | null, T[]>, name: string | null, item: T) {
  const list = lists.get(name);
  if (list) list.push(item);
  else lists.set(name, [item]);
}

function sensorsInOrder(device: FleetDevice): FleetSensor[] {
  if (!device.isInOrder) device.sensors = sorted(device.sensors, ({ name }) => name, false);
  device.isInOrder = true;
  return device.sensors;
}

/** @returns the level of the steps right below a place, which is that of its first sensor further down; null: nothing is below it */
export function levelBelow(devices: FleetSensor[][], path: string): string | null {
  const depth = path.split('/').length;
  for (const sensors of devices)
    for (const { place } of sensors)
      if (place && isWithin(place, path) && place.levels[depth] !== undefined) return place.levels[depth];
  return null;
}

/** @returns the shortest end of each path that no other path has, by path */
export function shortNames(paths: readonly string[]): Map<string, string> {
  const names: Map<string, string> = new Map();
  const endOf = (path: string, steps: number) => path.split('/').slice(-steps).join('/');
  let rest = [...paths];
  for (let steps = 1; rest.length > 0; steps += 1) {
    const counts: Map<string, number> = new Map();
    for (const path of paths) counts.set(endOf(path, steps), (counts.get(endOf(path, steps)) ?? 0) + 1);
    const isUnique = (path: string) => counts.get(endOf(path, steps)) === 1 || endOf(path, steps) === path;
    for (const path of rest.filter(isUnique)) names.set(path, endOf(path, steps));
    rest = rest.filter((path) => !names.has(path));
  }
  return names;
}
