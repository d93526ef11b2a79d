/** The routes of assets. */
import type { Route } from '../../../http/route.ts';
import { csvRoutes } from './csv.ts';
import { editingRoutes } from './editing.ts';
import { readingRoutes } from './reading.ts';
import { searchRoute } from './searching.ts';
import type { Deps } from './shared.ts';

export { SCHEMAS } from './schemas.ts';
export { assetOf, assetTargets, type Deps, findAsset, readWanted } from './shared.ts';

export const routes: Array<Route<Deps>> = [...readingRoutes, searchRoute, ...editingRoutes, ...csvRoutes];
