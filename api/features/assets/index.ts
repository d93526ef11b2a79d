/** A tree of sites, lines and machines over devices and sensors, which knows its past. */
import { defineFeature } from '../../feature.ts';
import type { Route } from '../../http/route.ts';
import { ASSET_SETTINGS, createBoundTokens } from './bound-tokens.ts';
import { createPlanStore, PLAN_SCHEMAS, type PlanDeps, planRoutes } from './plans/index.ts';
import { placedQuery } from './query-places.ts';
import { createRollUps, SERIES_SCHEMAS, type SeriesRouteDeps, seriesRoute } from './roll-ups/index.ts';
import { routes, SCHEMAS } from './routes/index.ts';
import { createTree } from './tree/index.ts';

const ALL_ROUTES: Array<Route<PlanDeps & SeriesRouteDeps>> = [...routes, seriesRoute, ...planRoutes];

export const assetsFeature = defineFeature({
  name: 'assets',
  settings: [ASSET_SETTINGS],
  tags: { assets: 'Sites, lines and machines, and the devices and sensors at them.' },
  schemas: { ...SCHEMAS, ...SERIES_SCHEMAS, ...PLAN_SCHEMAS },
  parameters: {
    asset: {
      description: 'The `asset_id` of an asset, or its path, with each slash as `%2F`.',
      schema: { type: 'string', minLength: 1 },
      example: 'Plant 1',
    },
  },
  routes: ALL_ROUTES,
  formats: { query: placedQuery },
  create(core) {
    const { tree, log, edits, noteDevice, ...running } = createTree(core);
    // Before the tree reads its log, because roll-ups note the edits that they lack.
    const rollUps = createRollUps(core, { tree, refresh: () => log.refresh() });
    return {
      deps: { tree, log, edits, series: rollUps.series, plans: createPlanStore(core.store.session) },
      boundTokens: createBoundTokens(log, core.context.config.of(ASSET_SETTINGS).tokens),
      onRegistered: noteDevice,
      onPacked: rollUps.onPacked,
      async onRetiring(identity) {
        await rollUps.onRetiring(identity);
        return false;
      },
      onRetired: (identity) => edits.retireDevice(identity),
      async start() {
        await running.start();
        rollUps.start();
      },
      async stop() {
        await Promise.all([running.stop(), rollUps.stop()]);
      },
    };
  },
});
