import type { AssetTree } from '../tree/index.ts';

/**
 * The part of the tree that roll-ups use: direct relations only, because a roll-up of an asset is made of its direct members and of the
 * roll-ups of its children.
 */
export type RolledTree = Pick<
  AssetTree,
  | 'version'
  | 'device'
  | 'ids'
  | 'parentAt'
  | 'childrenBetween'
  | 'membersBetween'
  | 'ownSpans'
  | 'assetAt'
  | 'assetsAt'
  | 'onChange'
>;
