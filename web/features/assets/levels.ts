import type { Level } from './api.ts';

/** The levels of assets, from the top. A test compares them with those of the API. */
export const LEVELS: readonly Level[] = ['enterprise', 'site', 'area', 'line', 'cell', 'machine'];

/** @param parent null: of a root @returns the levels that a child may have, the usual one first */
export function levelsUnder(parent: Level | null): Level[] {
  if (parent === null) return ['site', ...LEVELS.filter((level) => level !== 'site')];
  return LEVELS.slice(LEVELS.indexOf(parent) + 1);
}
