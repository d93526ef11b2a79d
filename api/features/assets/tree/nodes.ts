import type { Level } from './levels.ts';
import type { ChildSpan, Placement } from './placement.ts';
import { Timeline } from './timeline.ts';

/** A set that needs no memory while it is empty, because few assets have former children or members. */
class LazySet<T> {
  #values: Set<T> | null = null;

  add(value: T) {
    this.#values ??= new Set();
    this.#values.add(value);
  }

  delete(value: T) {
    this.#values?.delete(value);
  }

  get size() {
    return this.#values?.size ?? 0;
  }

  *[Symbol.iterator](): Generator<T> {
    if (this.#values) yield* this.#values;
  }
}

/** A device or a sensor that was placed at least once. */
export class Member {
  readonly device: string;
  /** null: the device itself */
  readonly sensor: string | null;
  /** null: only the id is known */
  name: string | null;
  /** ids of assets; null: nowhere */
  readonly places: Timeline<string | null> = new Timeline();
  /** of a device: the site that placed it; null: an operator placed it; missing: it has no place, or retired */
  site: string | null | undefined;
  /** of a device: its sensors that were placed on their own, by id */
  sensors: Map<string, Member> | null = null;

  constructor(device: string, sensor: string | null, name: string | null) {
    this.device = device;
    this.sensor = sensor;
    this.name = name;
  }
}

/** The children of an asset, or the roots. */
class Branch {
  #children: Map<string, string> | null = null;
  /** ids of assets that were here, and are elsewhere or retired now */
  readonly #former: LazySet<string> = new LazySet();

  /** Id of the child with this name now. */
  child(name: string): string | null {
    return this.#children?.get(name) ?? null;
  }

  get size() {
    return this.#children?.size ?? 0;
  }

  get hadChildren(): boolean {
    return this.#children !== null;
  }

  /** Ids of all children that were here at any time. */
  *ever(): Generator<string> {
    if (this.#children) yield* this.#children.values();
    yield* this.#former;
  }

  enter({ id, name }: AssetNode) {
    this.#children ??= new Map();
    this.#children.set(name, id);
    this.#former.delete(id);
  }

  leave({ id, name }: AssetNode) {
    this.#children?.delete(name);
    this.#former.add(id);
  }
}

export class AssetNode extends Branch {
  readonly id: string;
  level: Level;
  readonly names: Timeline<string> = new Timeline();
  readonly parents: Timeline<string | null> = new Timeline();
  /** epoch ms; null: it is in use */
  retiredAt: number | null = null;
  readonly #members: LazySet<Member> = new LazySet();
  readonly #formerMembers: LazySet<Member> = new LazySet();

  constructor(id: string, level: Level) {
    super();
    this.id = id;
    this.level = level;
  }

  get name(): string {
    return this.names.newest ?? '';
  }

  get parent(): string | null {
    return this.parents.newest;
  }

  isRetired(at: number): boolean {
    return this.retiredAt !== null && this.retiredAt <= at;
  }

  get memberCount(): number {
    return this.#members.size;
  }

  get hadMembers(): boolean {
    return this.#members.size > 0 || this.#formerMembers.size > 0;
  }

  /** All members that were here at any time. */
  *membersEver(): Generator<Member> {
    yield* this.#members;
    yield* this.#formerMembers;
  }

  hold(member: Member) {
    this.#members.add(member);
    this.#formerMembers.delete(member);
  }

  release(member: Member) {
    this.#members.delete(member);
    this.#formerMembers.add(member);
  }
}

/** All nodes of a tree. A parent null is above the roots. */
export class Nodes {
  readonly roots: Branch = new Branch();
  readonly assets: Map<string, AssetNode> = new Map();
  readonly devices: Map<string, Member> = new Map();
  /** ids of the assets that were created for a site, by the site */
  readonly sites: Map<string, string> = new Map();

  branch(id: string | null): Branch | undefined {
    return id === null ? this.roots : this.assets.get(id);
  }

  /** Placements at the asset and below it in [from, to), clipped. */
  *placements(id: string, range: { from: number; to: number }): Generator<Placement> {
    yield* this.members(id, range);
    for (const { asset, from, to } of this.children(id, range)) yield* this.placements(asset, { from, to });
  }

  /** The placements at the asset itself in [from, to), clipped. */
  *members(id: string, range: { from: number; to: number }): Generator<Placement> {
    for (const { device, sensor, places } of this.assets.get(id)?.membersEver() ?? [])
      for (const { value, from, to } of places.between(range.from, range.to))
        if (value === id) yield { device, sensor, from, to };
  }

  /** The direct children in [from, to), clipped. */
  *children(id: string, range: { from: number; to: number }): Generator<ChildSpan> {
    for (const child of this.assets.get(id)?.ever() ?? [])
      for (const { value, from, to } of this.assets.get(child)?.parents.between(range.from, range.to) ?? [])
        if (value === id) yield { asset: child, from, to };
  }

  /** Ids of all assets that are above or at one of these at any time from `since` on. */
  holders(ids: Iterable<string | null>, since: number, found: Set<string> = new Set()): Set<string> {
    for (const id of ids) {
      const node = this.assets.get(id ?? '');
      if (!node || found.has(node.id)) continue;
      found.add(node.id);
      this.holders(node.parents.values(since), since, found);
    }
    return found;
  }
}
