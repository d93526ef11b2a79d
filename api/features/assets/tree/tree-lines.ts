import { randomUUID } from 'node:crypto';
import { type ErrorCode, MillraceError } from '../../../../common/errors.ts';
import { identifyDevice, identifySensor } from '../../../../schema/ids.ts';
import type { Asset, AssetTree } from './asset-tree.ts';
import type { Change } from './change.ts';
import { checkLevel, checkText, levelUnder, placement, placesOf } from './edits.ts';
import { ASSET_LEVELS, type Level } from './levels.ts';

/** An asset, or a device or sensor at it. Empty texts: not given. */
export interface TreeLine {
  /** of the file, from 1 */
  line: number;
  path: string;
  level: string;
  device: string;
  sensor: string;
}

export const LINE_COLUMNS = ['path', 'level', 'device', 'sensor'] as const;

/** `code` null: the line is valid. */
export interface LineResult {
  line: number;
  outcome: 'created' | 'placed' | 'unchanged' | 'refused';
  code: ErrorCode | null;
  detail: string | null;
}

/** The whole tree as it is now: each asset, then its devices and sensors, then its children. */
export function* treeLines(tree: AssetTree, id: string | null = null): Generator<Omit<TreeLine, 'line'>> {
  const children = [...tree.children(id)].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const child of children) {
    const path = tree.path(child.id);
    yield { path, level: child.level, device: '', sensor: '' };
    for (const member of tree.directMembers(child.id)) {
      const device = tree.device(member.device)?.name ?? member.device;
      const sensor = member.sensor === null ? '' : (member.name ?? member.sensor);
      yield { path, level: '', device, sensor };
    }
    yield* treeLines(tree, child.id);
  }
}

/**
 * Plans the changes that bring lines of a file into the tree. A line may use assets that earlier lines create. Changes that the tree has are
 * left out, so a repeated file changes nothing. `hour`: the present one, in epoch ms.
 */
export class LinesPlan {
  readonly changes: Change[] = [];
  #tree;
  #hour;
  #created: Map<string, Asset> = new Map();
  /** ids of assets by device and sensor */
  #placed: Map<string, string> = new Map();

  constructor(tree: AssetTree, hour: number) {
    this.#tree = tree;
    this.#hour = hour;
  }

  /** A refused line changes nothing, and does not keep others from their effect. */
  add(line: TreeLine): LineResult {
    try {
      return { line: line.line, outcome: this.#add(line), code: null, detail: null };
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      return { line: line.line, outcome: 'refused', code: error.code, detail: error.message };
    }
  }

  #add({ path, level, device, sensor }: TreeLine): LineResult['outcome'] {
    const before = this.changes.length;
    const member = memberOf(device, sensor);
    const asset = this.#assetOf(path.split('/'), levelOf(level));
    const isCreated = this.changes.length > before;
    if (!member) return isCreated ? 'created' : 'unchanged';
    const key = `${member.device.id}/${member.sensor?.id ?? ''}`;
    const places = placesOf(this.#tree, member.device.id, member.sensor?.id)?.places;
    if ((this.#placed.get(key) ?? places?.newest) === asset.id) return 'unchanged';
    const since = !places || places.isEmpty ? 0 : this.#hour;
    this.#placed.set(key, asset.id);
    this.changes.push(placement(member, { asset: asset.id, since, by: 'hand' }));
    return 'placed';
  }

  #assetOf(names: string[], level: Level | null): Asset {
    const missing: Asset[] = [];
    let parent: Asset | null = null;
    for (const [index, name] of names.entries()) {
      const known: Asset | null = missing.length > 0 ? null : this.#find(names.slice(0, index + 1));
      const isLast = index === names.length - 1;
      if (known && isLast && level !== null && level !== known.level)
        throw new MillraceError(
          'asset_level',
          `${names.join('/')} already exists with the level ${known.level}.`,
        );
      const next: Asset = known ?? newAsset(name, isLast ? level : null, parent);
      if (!known) missing.push(next);
      parent = next;
    }
    for (const [index, asset] of missing.entries()) {
      const { id, name, level: own, parent: above } = asset;
      this.changes.push({ do: 'create', asset: id, name, level: own, parent: above });
      this.#created.set(names.slice(0, names.length - missing.length + index + 1).join('/'), asset);
    }
    return parent as Asset;
  }

  #find(names: string[]): Asset | null {
    const path = names.join('/');
    return this.#created.get(path) ?? this.#tree.byPath(path);
  }
}

/** @throws `malformed`, `asset_level` */
function newAsset(name: string, level: Level | null, parent: Asset | null): Asset {
  checkText(name);
  const own = level ?? levelUnder(parent);
  if (parent) checkLevel(own, parent);
  return { id: randomUUID(), name, level: own, parent: parent?.id ?? null, isRetired: false };
}

/** @throws `malformed` */
function levelOf(text: string): Level | null {
  if (text === '') return null;
  const level = ASSET_LEVELS.find((known) => known === text);
  if (level) return level;
  throw new MillraceError('malformed', `The level must be empty or one of ${ASSET_LEVELS.join(', ')}.`);
}

/** Null: the line is an asset. @throws `malformed`, `bad_id` */
function memberOf(deviceText: string, sensorText: string) {
  if (deviceText === '') {
    if (sensorText === '') return null;
    throw new MillraceError('malformed', 'A sensor needs its device.');
  }
  const device = identifyDevice(deviceText);
  const sensor = device && sensorText !== '' ? identifySensor(device.id, sensorText) : null;
  if (!device || (sensorText !== '' && !sensor)) throw new MillraceError('bad_id');
  return { device, sensor };
}
