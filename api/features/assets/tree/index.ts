/** The tree of assets over time: parents, names and places. It knows nothing of samples. */

import { Steps } from '../../../background/index.ts';
import type { Core } from '../../../feature.ts';
import type { Device } from '../../../ingest/registry/cache.ts';
import { Retry } from '../../../store/index.ts';
import { AssetTree } from './asset-tree.ts';
import { AssetEdits } from './edits.ts';
import { AssetLog } from './log.ts';
import { SiteAssets } from './site-assets.ts';
import { createAssetStore } from './store.ts';

export { type Asset, AssetTree, NOW, type PlacedMember } from './asset-tree.ts';
export { AssetEdits, assetInUse, levelUnder, noSuchAsset } from './edits.ts';
export { ASSET_LEVELS, type Level } from './levels.ts';
export { AssetLog } from './log.ts';
export type { ChangedPlacement, Placement } from './placement.ts';
export { LINE_COLUMNS, type LineResult, LinesPlan, type TreeLine, treeLines } from './tree-lines.ts';

/**
 * - `assets`: interval of the check for changes of the tree
 * - `assetSites`: devices that register within this time are placed under the assets of their sites together
 * - `assetSweep`: interval of the check for devices that are not under the asset of their site
 */
const PERIODS_MS = { assets: 2000, assetSites: 1000, assetSweep: 600_000 };

export function createTree({ context, store }: Pick<Core, 'context' | 'store'>) {
  const { config, clock, logger, metrics, periodsOf } = context;
  const periods = periodsOf(PERIODS_MS);
  const tree = new AssetTree();
  const table = createAssetStore(store.session);
  const log = new AssetLog({ tree, store: table, clock, logger, everyMs: periods.assets });
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = new Steps({ retry, isPressed: store.health.isPressed, overdueMs: () => 0 });
  metrics.gauge('iot_assets', 'Assets that this process knows, with retired ones', () => tree.size.assets);
  metrics.gauge('iot_asset_devices', 'Devices that were placed at an asset', () => tree.size.devices);
  const siteAssets = new SiteAssets({
    log,
    fleet: store.fleet,
    clock,
    logger,
    steps,
    batchMs: periods.assetSites,
    sweepMs: periods.assetSweep,
  });
  return {
    tree,
    log,
    edits: new AssetEdits({ log, clock }),
    /** Returns at once. */
    noteDevice: (device: Device) => siteAssets.note(device),
    async start() {
      await log.start();
      // One kind of process is enough to read the whole registry.
      if (config.role !== 'http') siteAssets.start();
    },
    async stop() {
      log.stop();
      await siteAssets.stop();
    },
  };
}
