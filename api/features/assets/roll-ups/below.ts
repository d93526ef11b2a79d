import type { AssetTree, Placement } from '../tree/index.ts';
import type { Span } from './pending-changes.ts';
import type { RolledTree } from './rolled-tree.ts';

/** By device. Null: there are `limit` devices or more, and the walk ended there. */
export function placementsBelow(
  tree: Pick<AssetTree, 'placementsBetween'>,
  asset: string,
  { from, to }: Span,
  limit: number,
): Map<string, Placement[]> | null {
  const devices: Map<string, Placement[]> = new Map();
  for (const placement of tree.placementsBetween(asset, from, to)) {
    const placements = devices.get(placement.device) ?? [];
    devices.set(placement.device, placements);
    placements.push(placement);
    if (devices.size >= limit) return null;
  }
  return devices;
}

/** The spans in which the placements of a device hold one of its sensors. */
export function heldSpans(
  tree: Pick<RolledTree, 'ownSpans'>,
  sensor: string,
  placements: Placement[],
): Span[] {
  return placements.flatMap(({ device, sensor: placed, from, to }) => {
    if (placed !== null) return placed === sensor ? { from, to } : [];
    const own = [...tree.ownSpans(device, sensor, from, to)].sort((a, b) => a.from - b.from);
    const held: Span[] = [];
    let begin = from;
    for (const span of own) {
      if (begin < span.from) held.push({ from: begin, to: span.from });
      begin = span.to;
    }
    if (begin < to) held.push({ from: begin, to });
    return held;
  });
}
