import type { Feature } from '../feature.ts';
import type { Contract } from '../http/contract/openapi.ts';
import { CORE_CONTRACT } from '../http/index.ts';
import type { Route } from '../http/route.ts';
import { annotations } from './annotations/index.ts';

/** A line switches its feature on. */
export const FEATURES: Feature[] = [annotations];

/** Of the core and of all features. */
export const CONTRACTS: Contract[] = [CORE_CONTRACT, ...FEATURES];

export const ROUTES: Route[] = CONTRACTS.flatMap(({ routes = [] }) => routes);
