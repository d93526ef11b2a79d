import { randomUUID } from 'node:crypto';
import { MillraceError } from '../../../../common/errors.ts';
import { formatTime } from '../../../../common/times.ts';
import { brokenNameRule, type Identity, isName, type SensorIdentity } from '../../../../schema/ids.ts';
import { bucketOf } from '../../../../schema/rules.ts';
import type { Asset, AssetTree } from './asset-tree.ts';
import type { Change, Place } from './change.ts';
import { isDeeper, type Level, levelBelow } from './levels.ts';
import type { AssetLog } from './log.ts';

/** Edits by operators. Each checks the newest tree before it is stored. `since`: epoch ms. */
export class AssetEdits {
  #log;
  #clock;

  /** `clock`: epoch ms */
  constructor({ log, clock }: { log: AssetLog; clock: () => number }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** @returns the id @throws `not_found`, `asset_exists`, `asset_level` */
  async create(
    editor: string,
    { name, level, parent }: { name: string; level: Level; parent: string | null },
  ): Promise<string> {
    const asset = randomUUID();
    await this.#log.edit(editor, (tree) => {
      if (tree.asset(asset)) return [];
      if (parent !== null) checkLevel(level, assetInUse(tree, parent));
      checkName(tree, parent, name);
      return [{ do: 'create', asset, name, level, parent }];
    });
    return asset;
  }

  /** @throws `not_found`, `asset_exists`, `asset_level`, `in_future` */
  async change(
    editor: string,
    id: string,
    {
      name,
      level,
      since,
    }: { name?: string | undefined; level?: Level | undefined; since?: number | undefined },
  ) {
    await this.#log.edit(editor, (tree) => {
      const asset = assetInUse(tree, id);
      const changes: Change[] = [];
      if (name !== undefined && name !== asset.name) {
        checkName(tree, asset.parent, name);
        changes.push({ do: 'rename', asset: id, name, since: this.#hour(since) });
      }
      if (level !== undefined && level !== asset.level) {
        for (const parent of tree.parentsEver(id)) checkLevel(level, parent);
        for (const child of tree.childrenEver(id)) checkLevel(child.level, { ...asset, level });
        changes.push({ do: 'set_level', asset: id, level });
      }
      return changes;
    });
  }

  /** @throws `not_found`, `asset_exists`, `asset_circle`, `asset_level`, `in_future` */
  async move(
    editor: string,
    id: string,
    { parent, since }: { parent: string | null; since?: number | undefined },
  ) {
    await this.#log.edit(editor, (tree) => {
      const asset = assetInUse(tree, id);
      if (parent !== null) {
        const above = assetInUse(tree, parent);
        if (tree.lineage(parent).some((ancestor) => ancestor.id === id))
          throw new MillraceError('asset_circle');
        checkLevel(asset.level, above);
      }
      if (parent === asset.parent && since === undefined) return [];
      if (parent !== asset.parent) checkName(tree, parent, asset.name);
      return [{ do: 'move', asset: id, parent, since: this.#hour(since) }];
    });
  }

  /** @throws `not_found`, `asset_in_use` */
  async retire(editor: string, id: string) {
    await this.#log.edit(editor, (tree) => {
      assetInUse(tree, id);
      const { children, members } = tree.counts(id);
      if (children > 0 || members > 0)
        throw new MillraceError(
          'asset_in_use',
          `The asset has ${children} children, and ${members} devices or sensors. Move them first.`,
        );
      return [{ do: 'retire', asset: id, since: this.#hour() }];
    });
  }

  /**
   * Places a device, or one sensor of it. `asset` null: nowhere. Default of `since`: always for the first place, else now.
   * @throws `not_found`, `in_future`
   */
  async place(
    editor: string,
    { device, sensor }: { device: Identity; sensor: SensorIdentity | null },
    { asset, since }: { asset: string | null; since?: number | undefined },
  ) {
    await this.#log.edit(editor, (tree) => {
      if (asset !== null) assetInUse(tree, asset);
      const places = placesOf(tree, device.id, sensor?.id)?.places;
      if (asset === null && (places?.newest ?? null) === null)
        throw new MillraceError('not_found', 'The device or the sensor has no place of its own.');
      const isFirst = !places || places.isEmpty;
      const hour = since === undefined && isFirst ? 0 : this.#hour(since);
      return [placement({ device, sensor }, { asset, since: hour, by: 'hand' })];
    });
  }

  /** The device and its sensors leave their assets. A later device with this name may be placed by its site again. */
  async retireDevice(device: Identity) {
    await this.#log.edit('retirement', (tree) => {
      const member = tree.device(device.id);
      const sensors = [...(member?.sensors?.values() ?? [])];
      return [...(member ? [member] : []), ...sensors]
        .filter(({ places }) => places.newest !== null)
        .map(({ sensor, name }) => ({
          do: 'place',
          device: device.id,
          name: member?.name ?? device.name,
          ...(sensor !== null && { sensor, sensor_name: name }),
          asset: null,
          since: this.#hour(),
          by: 'retirement',
        }));
    });
  }

  /** The full hour, because statistics are hourly. @throws `in_future` */
  #hour(since: number = this.#clock()): number {
    if (since > this.#clock())
      throw new MillraceError('in_future', `since is ${formatTime(since)}, which is in the future.`);
    return Math.max(0, bucketOf(since));
  }
}

export const placesOf = (tree: AssetTree, device: string, sensor: string | undefined) => {
  const member = tree.device(device);
  return sensor === undefined ? member : member?.sensors?.get(sensor);
};

export const placement = (
  { device, sensor }: { device: Identity; sensor: SensorIdentity | null },
  place: Pick<Place, 'asset' | 'since' | 'by' | 'site'>,
): Place => ({
  do: 'place',
  device: device.id,
  name: device.name,
  ...(sensor && { sensor: sensor.id, sensor_name: sensor.name }),
  ...place,
});

/** @throws `not_found` */
export function assetInUse(tree: AssetTree, id: string): Asset {
  const asset = tree.asset(id);
  if (!asset || asset.isRetired) throw noSuchAsset();
  return asset;
}

export const noSuchAsset = () => new MillraceError('not_found', 'No asset in use has this id or path.');

/** @throws `asset_level` */
export function checkLevel(level: Level, parent: Pick<Asset, 'name' | 'level'>) {
  if (isDeeper(level, parent.level)) return;
  throw new MillraceError(
    'asset_level',
    `The level ${level} is not below the level ${parent.level} of ${parent.name}.`,
  );
}

/** Default of the level of a new asset. `parent` null: it is a root. @throws `asset_level` */
export function levelUnder(parent: Pick<Asset, 'name' | 'level'> | null): Level {
  const level = parent === null ? 'site' : levelBelow(parent.level);
  if (level !== null) return level;
  throw new MillraceError('asset_level', `No level is below the level ${parent?.level} of ${parent?.name}.`);
}

/** A name is a part of paths. White space at its ends would be lost in files. @throws `malformed` */
export function checkText(name: string) {
  if (!isName(name)) throw new MillraceError('malformed', `A name of an asset ${brokenNameRule(name)}.`);
  if (name !== name.trim() || name.includes('/'))
    throw new MillraceError('malformed', 'A name of an asset has no slash, and no white space at its ends.');
}

/** @throws `malformed`, `asset_exists` */
function checkName(tree: AssetTree, parent: string | null, name: string) {
  checkText(name);
  if (tree.childByName(parent, name) !== null)
    throw new MillraceError('asset_exists', `There is an asset named ${name} at this place.`);
}
