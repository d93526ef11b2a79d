import type { AssetTree } from '../tree/index.ts';

/** The part of the tree that roll-ups use. */
export type RolledTree = Pick<
  AssetTree,
  | 'version'
  | 'device'
  | 'ids'
  | 'parentAt'
  | 'childrenBetween'
  | 'membersBetween'
  | 'placementsBetween'
  | 'ownSpans'
  | 'assetAt'
  | 'assetsAt'
  | 'onChange'
>;
