import { HOUR_MS } from '../../../../schema/rules.ts';
import type { RolledTree } from './rolled-tree.ts';

/** The hours of an asset that are computed together. Starts of hours in epoch ms, in order of time. */
export interface DueAsset {
  asset: string;
  hours: number[];
}

/** Ends a walk over a broken tree. */
const MAX_DEPTH = 64;

/**
 * The hours in [from, to) for which assets are due. If an asset is due, its ancestors of that hour are due too, because a roll-up is
 * made of those of its children. So the deepest assets come first.
 */
export class DueHours {
  readonly from: number;
  #length;
  #tree;
  /** for each asset and hour: the depth in the tree plus 1; 0: not due */
  #depths: Map<string, Uint8Array> = new Map();
  #deepest = 0;

  constructor(tree: Pick<RolledTree, 'parentAt'>, { from, to }: { from: number; to: number }) {
    this.#tree = tree;
    this.from = from;
    this.#length = (to - from) / HOUR_MS;
  }

  /** Hours outside of the range are left out. */
  add(asset: string, from: number, to: number) {
    const begin = Math.max(0, (from - this.from) / HOUR_MS);
    const end = Math.min(this.#length, (to - this.from) / HOUR_MS);
    for (let index = begin; index < end; index++) this.#mark(asset, index);
  }

  /** First the deepest assets. Those of a list may be computed at the same time. */
  *byDepth(): Generator<DueAsset[]> {
    for (let depth = this.#deepest; depth > 0; depth--) {
      const due: DueAsset[] = [];
      for (const [asset, depths] of this.#depths) {
        const hours = [];
        for (let index = 0; index < this.#length; index++)
          if (depths[index] === depth) hours.push(this.from + index * HOUR_MS);
        if (hours.length > 0) due.push({ asset, hours });
      }
      if (due.length > 0) yield due;
    }
  }

  #mark(asset: string, index: number) {
    const hour = this.from + index * HOUR_MS;
    const unmarked: Uint8Array[] = [];
    let depth = 0;
    for (
      let id: string | null = asset;
      id !== null && unmarked.length < MAX_DEPTH;
      id = this.#tree.parentAt(id, hour)
    ) {
      const depths = this.#of(id);
      if (depths[index]) {
        depth = depths[index];
        break;
      }
      unmarked.push(depths);
    }
    for (const depths of unmarked.reverse()) depths[index] = ++depth;
    this.#deepest = Math.max(this.#deepest, depth);
  }

  #of(asset: string): Uint8Array {
    const known = this.#depths.get(asset);
    if (known) return known;
    const depths = new Uint8Array(this.#length);
    this.#depths.set(asset, depths);
    return depths;
  }
}
