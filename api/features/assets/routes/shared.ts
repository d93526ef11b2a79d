import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { MillraceError } from '../../../../common/errors.ts';
import type { TargetsOf } from '../../../access/http/index.ts';
import type { Core } from '../../../feature.ts';
import { fields, rangeAt, readJsonText, timeOf } from '../../../http/index.ts';
import type { TimeParameter } from '../../../http/parameters.ts';
import {
  type Asset,
  type AssetEdits,
  type AssetLog,
  type AssetTree,
  NOW,
  noSuchAsset,
} from '../tree/index.ts';

export type Deps = Core & { tree: AssetTree; log: AssetLog; edits: AssetEdits };

export const at = fields.asof.meta({
  ...fields.asof.meta(),
  description: 'The tree at this instant. Default: as it is now.',
});

/** Epoch ms; `NOW`: not given. */
export const timeAt = (given: TimeParameter | undefined, { context }: Pick<Deps, 'context'>): number =>
  rangeAt({ to: given }, context.clock()).to ?? NOW;

/** `text`: id or path. It also finds a retired asset by its id. @throws `not_found` */
export function findAsset(tree: AssetTree, text: string): Asset {
  const asset = tree.asset(text) ?? tree.byPath(text);
  if (!asset) throw noSuchAsset();
  return asset;
}

export const assetOf = (req: Request, tree: AssetTree): Asset => findAsset(tree, String(req.params['asset']));

/** The asset of the path, unless the request is about an earlier tree, in which other assets were below it. */
export const assetTargets: TargetsOf = ({ params, query }) =>
  query['at'] === undefined ? [{ place: String(params['asset']) }] : [];

/** The caller, as the log of changes names it. */
export const editorOf = (res: Response): string => String(res.locals['caller'].by);

/** In bytes. The longest path, all characters escaped, fits. */
const MAX_BYTES = 16 * 1024;

/** `limit`: bytes. @throws `malformed`, and the errors of `readJsonText` */
export async function readWanted<T extends z.ZodType>(
  req: Request,
  res: Response,
  schema: T,
  advice: string,
  limit: number = MAX_BYTES,
): Promise<z.infer<T>> {
  const text = await readJsonText(req, res, limit);
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new MillraceError('malformed', advice, { cause: error });
  }
}

/** Epoch ms. @throws `bad_timestamp` */
export const sinceOf = (given: string | number | undefined): number | undefined =>
  given === undefined ? undefined : timeOf(given);

export function assetItem(tree: AssetTree, { id, name, level, parent }: Asset, path: string = tree.path(id)) {
  const { children, members } = tree.counts(id);
  return { asset_id: id, name, level, path, parent_id: parent, children, members };
}

export function assetDetail(tree: AssetTree, asset: Asset, time: number = NOW) {
  const ancestors = tree.lineage(asset.id, time).slice(1).reverse();
  return {
    ...assetItem(tree, asset, tree.path(asset.id, time)),
    retired: asset.isRetired,
    ancestors: ancestors.map(({ id, name, level }) => ({ asset_id: id, name, level })),
  };
}

/** Items that are looked at in one go. Then other requests can run. */
export const ITEMS_AT_ONCE = 2000;

/** @returns index of the first item of a sorted list for which `isTrue` holds; the length of the list if there is none */
export function firstIndex<T>(items: readonly T[], isTrue: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The items after a key, up to `limit`, in the order of their keys. `next`: key of the last one; null: there are no more. */
export async function selectPage<T>(
  items: Iterable<T>,
  { keyOf, after, limit }: { keyOf: (item: T) => string; after: string | null; limit: number },
): Promise<{ items: T[]; next: string | null }> {
  let seen = 0;
  const page: Array<{ key: string; item: T }> = [];
  for (const item of items) {
    if (++seen % ITEMS_AT_ONCE === 0) await nextTurn();
    const key = keyOf(item);
    const isBeyond = page.length > limit && key >= (page[limit]?.key ?? '');
    if (isBeyond || (after !== null && key <= after)) continue;
    const place = firstIndex(page, (other) => other.key >= key);
    // An item that moves while the list is read may come twice.
    if (page[place]?.key === key) continue;
    page.splice(place, 0, { key, item });
    if (page.length > limit + 1) page.pop();
  }
  const last = page.length > limit ? page[limit - 1] : undefined;
  return { items: page.slice(0, limit).map(({ item }) => item), next: last?.key ?? null };
}
