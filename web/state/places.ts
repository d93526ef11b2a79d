/** A place in a tree of groups of sensors, such as a line of a plant. Equal places are one object. */
export interface Place {
  /** names from the root, with slashes */
  path: string;
  /** kind of each step of the path, such as `line` */
  levels: readonly string[];
}

/** @param ids of a device and its sensor @returns null: the sensor has no place */
export type PlaceOf = (device: string, sensor: string) => Place | null;

/** @returns the path of the step that has this level; null: no step has it */
export function stepAt({ path, levels }: Place, level: string): string | null {
  const index = levels.indexOf(level);
  const names = path.split('/');
  return index === -1 ? null : names.slice(0, index + 1).join('/');
}

export const isWithin = ({ path }: Place, above: string): boolean =>
  path === above || path.startsWith(`${above}/`);
