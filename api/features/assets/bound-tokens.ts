import { defineSettings } from '../../../common/settings/group.ts';
import { boundTokenRules } from '../../../common/settings/rules.ts';
import { boundTokens } from '../../../common/settings/value-types.ts';
import { type BoundToken, SCOPES, type Target } from '../../access/http/index.ts';
import { type AssetLog, type AssetTree, NOW } from './tree/index.ts';

type TokenSetting = { scope: 'read' | 'ingest' | 'admin'; token: string; place: string };

export const ASSET_SETTINGS = defineSettings({
  title: 'Assets',
  shape: {
    ASSET_TOKENS: boundTokens('ASSET').optional().meta({
      description:
        'Tokens that reach only one asset and what is below it. The scope is read, ingest or admin; the asset is a path or an asset_id.',
      secret: true,
    }),
  },
  arrange: (v) => ({ tokens: v.ASSET_TOKENS ?? [] }),
  rules: ({ tokens }, config) =>
    boundTokenRules(
      'ASSET_TOKENS',
      tokens.map(({ token }) => token),
      config,
    ),
});

/** The tokens reach what is at their asset and below it in the present tree. */
export const createBoundTokens = (
  log: Pick<AssetLog, 'tree' | 'refreshNow'>,
  tokens: TokenSetting[],
): BoundToken[] =>
  tokens.map(({ scope, token, place }) => ({
    token,
    // A correction also changes hours in which a device was elsewhere.
    scopes: scope === 'admin' ? SCOPES.filter((each) => each !== 'correct') : [scope],
    async reaches(targets) {
      // A move by another process must end the reach at once.
      await log.refreshNow();
      const root = assetNow(log.tree, place);
      return root !== null && targets.every((target) => isBelow(log.tree, root, target));
    },
  }));

/** @returns id of an asset in use. Null: there is none. */
function assetNow(tree: AssetTree, text: string): string | null {
  const asset = tree.asset(text) ?? tree.byPath(text);
  return asset && !asset.isRetired ? asset.id : null;
}

function isBelow(tree: AssetTree, root: string, target: Target): boolean {
  const contains = (id: string | null) => id !== null && tree.lineage(id).some((asset) => asset.id === root);
  if ('place' in target) return contains(assetNow(tree, target.place));
  const { device, sensor } = target;
  if (sensor !== undefined) return contains(tree.assetAt(device, sensor, NOW));
  // A sensor of the device may have a place of its own elsewhere.
  const isPlaced = (tree.device(device)?.places.newest ?? null) !== null;
  return isPlaced && [...tree.assetsAt(device, NOW)].every(contains);
}
