import { MillraceError } from '../../../common/errors.ts';
import type { Gremlin } from './gremlin.ts';
import { ASSET_BY_PATH, bindingsOf, TRAVERSALS, type Traversal } from './traversals.ts';
import { idOf, vertexOf } from './vertices.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param at epoch ms @returns a line of JSON for each row, or the traversal itself @throws `usage`, `failed` */
export async function query(
  gremlin: Pick<Gremlin, 'submit'>,
  {
    name,
    asset,
    at,
    showsText,
  }: { name: string; asset?: string | undefined; at: number; showsText: boolean },
): Promise<string[]> {
  if (!Object.hasOwn(TRAVERSALS, name))
    throw new MillraceError(
      'usage',
      `error: there is no query ${name}; there are ${Object.keys(TRAVERSALS).join(', ')}`,
    );
  const traversal: Traversal = TRAVERSALS[name as keyof typeof TRAVERSALS];
  if (traversal.ofAsset !== (asset !== undefined))
    throw new MillraceError(
      'usage',
      `error: ${name} takes ${traversal.ofAsset ? 'the path or the id of an asset' : 'no asset'}`,
    );
  const bindings = {
    ...bindingsOf(traversal, at),
    ...(asset !== undefined && { asset: await findAsset(gremlin, asset, at) }),
  };
  if (showsText) {
    const lines = Object.entries(bindings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    return [...lines, traversal.text];
  }
  const rows = await gremlin.submit(traversal.text, bindings);
  return rows.map((row) => JSON.stringify(row, (key, value) => (key === 'name' ? value : idOf(value))));
}

/** @throws `failed` */
async function findAsset(gremlin: Pick<Gremlin, 'submit'>, asset: string, at: number): Promise<string> {
  if (UUID.test(asset)) return vertexOf(asset);
  const [found] = await gremlin.submit<string>(ASSET_BY_PATH, { names: asset.split('/'), at });
  if (found === undefined) throw new MillraceError('failed', `The graph has no asset ${asset} at this time.`);
  return found;
}
