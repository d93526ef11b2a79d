import { applyChange } from './apply.ts';
import type { Change } from './change.ts';
import type { Level } from './levels.ts';
import { type AssetNode, type Member, Nodes } from './nodes.ts';
import type { ChangeListener, ChildSpan, Placement } from './placement.ts';

/** An asset at a time. */
export interface Asset {
  id: string;
  name: string;
  /** as it is now */
  level: Level;
  /** null: a root */
  parent: string | null;
  isRetired: boolean;
}

/** `assets`: ids of an asset and its ancestors. */
interface HeldSpan {
  assets: string[];
  from: number;
  to: number;
}

/** `asset`: where the member is placed. */
export interface PlacedMember {
  member: Member;
  asset: string;
}

/** No value of the tree begins later than now, so this time finds the newest values. */
export const NOW = Number.POSITIVE_INFINITY;

/** In assets. Levels bound the depth of a tree, and this only ends a walk over a broken log. */
const MAX_DEPTH = 32;

/** The tree that the log of changes describes, in memory. Ids are those of the registry, in lower case. Times are epoch ms. */
export class AssetTree {
  #version = 0;
  #nodes = new Nodes();
  #listeners: Set<ChangeListener> = new Set();

  /** number of the newest edit in this tree; 0: none */
  get version(): number {
    return this.#version;
  }

  /** Counts assets in use and retired, and devices that were placed at any time. */
  get size(): { assets: number; devices: number } {
    return { assets: this.#nodes.assets.size, devices: this.#nodes.devices.size };
  }

  /** Also finds a retired asset. */
  asset(id: string, at: number = NOW): Asset | null {
    const node = this.#nodes.assets.get(id);
    if (!node) return null;
    return {
      id,
      name: node.names.at(at) ?? node.name,
      level: node.level,
      parent: node.parents.at(at),
      isRetired: node.isRetired(at),
    };
  }

  /** Names joined by `/`, as they are now. */
  byPath(path: string): Asset | null {
    let id: string | null = null;
    for (const name of path.split('/')) {
      id = this.childByName(id, name);
      if (id === null) return null;
    }
    return id === null ? null : this.asset(id);
  }

  /** Id of the child that has this name now. `parent` null: finds a root. */
  childByName(parent: string | null, name: string): string | null {
    return this.#nodes.branch(parent)?.child(name) ?? null;
  }

  /** The asset that was created for devices of a site, if it is in use. */
  bySite(site: string): Asset | null {
    const asset = this.asset(this.#nodes.sites.get(site) ?? '');
    return asset?.isRetired === false ? asset : null;
  }

  /** The asset and its ancestors, nearest first. */
  lineage(id: string, at: number = NOW): Asset[] {
    return this.#upwards(id, at).flatMap((each) => this.asset(each, at) ?? []);
  }

  path(id: string, at: number = NOW): string {
    return this.lineage(id, at)
      .map(({ name }) => name)
      .reverse()
      .join('/');
  }

  /** `id` null: the roots. In no order. */
  *children(id: string | null, at: number = NOW): Generator<Asset> {
    for (const { id: child } of this.#childNodes(id, at)) yield this.asset(child, at) as Asset;
  }

  /** Costs a third of `children`. */
  *childNames(id: string | null, at: number = NOW): Generator<{ id: string; name: string }> {
    for (const node of this.#childNodes(id, at)) yield { id: node.id, name: node.names.at(at) ?? node.name };
  }

  *#childNodes(id: string | null, at: number): Generator<AssetNode> {
    for (const child of this.#nodes.branch(id)?.ever() ?? []) {
      const node = this.#nodes.assets.get(child);
      if (node && node.parents.at(at) === id && !node.isRetired(at)) yield node;
    }
  }

  /** Counts of what is at the asset itself now. */
  counts(id: string): { children: number; members: number } {
    const node = this.#nodes.assets.get(id);
    return { children: node?.size ?? 0, members: node?.memberCount ?? 0 };
  }

  /** All children that the asset had at any time, also retired ones. */
  childrenEver(id: string): Asset[] {
    return [...(this.#nodes.assets.get(id)?.ever() ?? [])].flatMap((child) => this.asset(child) ?? []);
  }

  /** All parents that the asset had at any time. */
  parentsEver(id: string): Asset[] {
    const parents = this.#nodes.assets.get(id)?.parents.values(0) ?? [];
    return [...parents].flatMap((parent) => this.asset(parent ?? '') ?? []);
  }

  /** Devices and sensors at the asset and below it at a time, in no order. `id` null: at all assets. */
  *members(id: string | null, at: number = NOW): Generator<PlacedMember> {
    const root = this.#nodes.assets.get(id ?? '');
    const open = root ? [root] : [...this.#childNodes(id, at)];
    for (let node = open.pop(); node; node = open.pop()) {
      if (node.hadMembers)
        for (const member of node.membersEver())
          if (member.places.at(at) === node.id) yield { member, asset: node.id };
      if (node.hadChildren) for (const child of this.#childNodes(node.id, at)) open.push(child);
    }
  }

  /** Devices and sensors at the asset itself now. */
  *directMembers(id: string): Generator<Member> {
    for (const member of this.#nodes.assets.get(id)?.membersEver() ?? [])
      if (member.places.newest === id) yield member;
  }

  /** The device with its places, and its sensors that have own places. Null: neither was ever placed. */
  device(id: string): Member | null {
    return this.#nodes.devices.get(id) ?? null;
  }

  /** Ids of the assets that hold the sensor in this hour, nearest first. */
  ancestorsAt(device: string, sensor: string, hour: number): readonly string[] {
    const member = this.device(device);
    const own = member?.sensors?.get(sensor)?.places.at(hour) ?? null;
    const place = own ?? member?.places.at(hour) ?? null;
    return place === null ? [] : this.#upwards(place, hour);
  }

  /** The assets that hold the sensor in [from, to), nearest first, for each span in which they are the same. In order of time. */
  *assetsBetween(device: string, sensor: string, from: number, to: number): Generator<HeldSpan> {
    const member = this.device(device);
    const own = member?.sensors?.get(sensor);
    const spans = [member, own].flatMap((placed) => [...(placed?.places.between(from, to) ?? [])]);
    const starts = [...new Set([from, ...spans.map((span) => span.from)])].sort((a, b) => a - b);
    for (const [index, start] of starts.entries()) {
      const span = { from: start, to: starts[index + 1] ?? to };
      yield* this.#upwardsBetween(this.assetAt(device, sensor, start), span, []);
    }
  }

  *#upwardsBetween(
    id: string | null,
    span: { from: number; to: number },
    below: string[],
  ): Generator<HeldSpan> {
    const node = this.#nodes.assets.get(id ?? '');
    if (!node || below.length === MAX_DEPTH) return void (yield { assets: below, ...span });
    const assets = [...below, node.id];
    for (const { value, ...part } of node.parents.between(span.from, span.to))
      yield* this.#upwardsBetween(value, part, assets);
  }

  /** Ids of all assets, also of retired ones. */
  ids(): Iterable<string> {
    return this.#nodes.assets.keys();
  }

  /** Null: a root at this time. */
  parentAt(asset: string, hour: number): string | null {
    return this.#nodes.assets.get(asset)?.parents.at(hour) ?? null;
  }

  /** The direct children in [from, to), clipped. */
  childrenBetween(asset: string, from: number, to: number): Iterable<ChildSpan> {
    return this.#nodes.children(asset, { from, to });
  }

  /** The placements at the asset and below it in [from, to), clipped. */
  placementsBetween(asset: string, from: number, to: number): Iterable<Placement> {
    return this.#nodes.placements(asset, { from, to });
  }

  /** The placements directly at the asset in [from, to), clipped, not those below it. */
  membersBetween(asset: string, from: number, to: number): Iterable<Placement> {
    return this.#nodes.members(asset, { from, to });
  }

  /** The spans in [from, to), clipped, in which the sensor has a place of its own, and is not where its device is. */
  *ownSpans(
    device: string,
    sensor: string,
    from: number,
    to: number,
  ): Generator<{ from: number; to: number }> {
    for (const { value, ...span } of this.device(device)?.sensors?.get(sensor)?.places.between(from, to) ??
      [])
      if (value !== null) yield span;
  }

  /** The asset that directly holds the sensor. Null: none. */
  assetAt(device: string, sensor: string, hour: number): string | null {
    const member = this.device(device);
    return member?.sensors?.get(sensor)?.places.at(hour) ?? member?.places.at(hour) ?? null;
  }

  /** The assets that directly hold the device or a single sensor of it. */
  assetsAt(device: string, hour: number): Set<string> {
    const member = this.device(device);
    const places = [member, ...(member?.sensors?.values() ?? [])].map((placed) => placed?.places.at(hour));
    return new Set(places.filter((place) => place !== null && place !== undefined));
  }

  onChange(listener: ChangeListener) {
    this.#listeners.add(listener);
  }

  /** Applies an edit of the log, which was checked before it was stored. */
  apply(version: number, changes: Change[]) {
    const isObserved = this.#listeners.size > 0;
    const changed = changes.flatMap((change) => applyChange(this.#nodes, change, isObserved));
    this.#version = version;
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed, version);
  }

  #upwards(id: string, at: number): string[] {
    const ids: string[] = [];
    let node = this.#nodes.assets.get(id);
    while (node && ids.length < MAX_DEPTH) {
      ids.push(node.id);
      node = this.#nodes.assets.get(node.parents.at(at) ?? '');
    }
    return ids;
  }
}
