/** The levels of the equipment hierarchy of ISA-95, from the top. The level of a child is deeper than that of its parent. */
export const ASSET_LEVELS = ['enterprise', 'site', 'area', 'line', 'cell', 'machine'] as const;

export type Level = (typeof ASSET_LEVELS)[number];

export const isDeeper = (level: Level, other: Level) =>
  ASSET_LEVELS.indexOf(level) > ASSET_LEVELS.indexOf(other);

/** Null: nothing is below this level. */
export const levelBelow = (level: Level): Level | null =>
  ASSET_LEVELS[ASSET_LEVELS.indexOf(level) + 1] ?? null;
