import type { Contract } from './http/contract/openapi.ts';
import { bind } from './http/index.ts';
import type { Route, RouteContext } from './http/route.ts';
import type { BoundRoute } from './http/serve.ts';
import type { Readiness } from './observability/readiness.ts';
import type { ClockGuard } from './store/clock-guard.ts';

/** What the core hands to a feature. */
export interface Core extends RouteContext {
  clockGuard: ClockGuard;
  readiness: Readiness;
  version: string;
}

/** A feature that this process has. */
export interface Running {
  routes: BoundRoute[];
  start?: () => Promise<void> | void;
  stop?: () => Promise<void> | void;
}

/**
 * A feature lies in one folder of `features/`, and one line of `features/index.ts` switches it on. The documents describe it by its
 * contract. `create` makes it for a process that serves the API.
 */
export interface Feature extends Contract {
  name: string;
  create: (core: Core) => Running;
}

/** `create` returns what the routes of the feature need besides the core. */
export function defineFeature<D extends object = object>({
  create = () => ({}),
  ...feature
}: Contract & {
  name: string;
  routes?: Array<Route<Core & D>>;
  create?: (core: Core) => { deps?: D } & Omit<Running, 'routes'>;
}): Feature {
  return {
    ...feature,
    create(core) {
      const { deps, ...running } = create(core);
      return { ...running, routes: bind(feature.routes ?? [], { ...core, ...deps } as Core & D) };
    },
  };
}
