import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { Operation } from '../../../http/contract/operation.ts';
import { fields, json, readQuery } from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import type { Asset, AssetTree } from '../tree/index.ts';
import { SCHEMAS } from './schemas.ts';
import { assetItem, type Deps, ITEMS_AT_ONCE } from './shared.ts';

const QUERY = {
  q: fields.text.meta({
    description: 'Words. Each is a part of the path, in any case.',
    example: 'plant hall',
  }),
  limit: fields.results,
};

const getSearch =
  ({ tree }: Deps): RequestHandler =>
  async (req, res) => {
    const { q, limit } = readQuery(req, QUERY);
    const found = await findAssets(tree, q, limit + 1);
    res.json({
      items: found.slice(0, limit).map((asset) => assetItem(tree, asset)),
      more: found.length > limit,
    });
  };

/** @returns the first matches, those near the root first */
export async function findAssets(tree: AssetTree, text: string, limit: number): Promise<Asset[]> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Asset[] = [];
  let seen = 0;
  for (const { asset, path } of byDepth(tree)) {
    if (++seen % ITEMS_AT_ONCE === 0) await nextTurn();
    if (words.every((word) => path.includes(word))) found.push(asset);
    if (found.length === limit) break;
  }
  return found;
}

/** Paths are in lower case. */
function* byDepth(tree: AssetTree): Generator<{ asset: Asset; path: string }> {
  let row = below(tree, null, '');
  while (row.length > 0) {
    const next: typeof row = [];
    for (const { asset, path } of row) {
      yield { asset, path };
      next.push(...below(tree, asset.id, `${path}/`));
    }
    row = next;
  }
}

const below = (tree: AssetTree, parent: string | null, before: string) =>
  [...tree.children(parent)]
    .map((asset) => ({ asset, path: before + asset.name.toLowerCase() }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));

const searchAssets: Operation = {
  id: 'searchAssets',
  tag: 'assets',
  scope: 'read',
  summary: 'Assets whose path has all of some words, those near the root first',
  query: QUERY,
  answers: { 200: json(SCHEMAS.AssetMatches) },
  problems: ['bad_parameter'],
};

export const searchRoute: Route<Deps> = {
  method: 'get',
  path: '/api/v1/asset-search',
  operation: searchAssets,
  handler: getSearch,
};
