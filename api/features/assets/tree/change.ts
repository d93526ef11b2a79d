import type { Level } from './levels.ts';

/**
 * One change of the tree, as the log stores it in JSON. Ids are UUIDs in lower case. `since` is in epoch ms, a full hour; 0: always. A change
 * may be applied twice. Fields are never renamed, because the log is never rewritten.
 */
export type Change =
  /** `site`: the site of devices for which the asset was created */
  | { do: 'create'; asset: string; name: string; level: Level; parent: string | null; site?: string }
  | { do: 'rename'; asset: string; name: string; since: number }
  | { do: 'set_level'; asset: string; level: Level }
  | { do: 'move'; asset: string; parent: string | null; since: number }
  | { do: 'retire'; asset: string; since: number }
  | Place;

/**
 * Places a device, or one sensor of it. `name` and `sensor_name` are null if only the id is known. `asset` null: nowhere; a sensor is then
 * where its device is. `by`: an operator, the site of the device, or its retirement.
 */
export type Place = {
  do: 'place';
  device: string;
  name: string | null;
  sensor?: string;
  sensor_name?: string | null;
  asset: string | null;
  since: number;
  by: 'hand' | 'site' | 'retirement';
  site?: string;
};

/** In changes. 500 placements have about 100 KB, far below the limit of a mutation. */
export const MAX_CHANGES = 500;
