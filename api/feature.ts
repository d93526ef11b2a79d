import type { Contract } from './http/contract/openapi.ts';
import { bindRoutes } from './http/index.ts';
import type { Route, RouteContext } from './http/route.ts';
import type { BoundRoute } from './http/serve.ts';
import type { Readiness } from './observability/readiness.ts';
import type { ClockGuard } from './store/clock-guard.ts';

/** The parts of the process that a feature may use. */
export interface FeatureContext extends RouteContext {
  clockGuard: ClockGuard;
  readiness: Readiness;
  version: string;
}

export interface RunningFeature {
  routes: BoundRoute[];
  start?: () => Promise<void> | void;
  stop?: () => Promise<void> | void;
}

/**
 * A feature lies in one folder of `features/`, and one line of `features/index.ts` switches it on. The documents describe it by its
 * contract. `create` starts it in a process that serves the API.
 */
export interface Feature extends Contract {
  name: string;
  create: (core: FeatureContext) => RunningFeature;
}

/** `create` returns as `deps` what the routes of the feature need in addition to the context. */
export function defineFeature<D extends object = object>({
  create = () => ({}),
  ...feature
}: Contract & {
  name: string;
  routes?: Array<Route<FeatureContext & D>>;
  create?: (core: FeatureContext) => { deps?: D } & Omit<RunningFeature, 'routes'>;
}): Feature {
  return {
    ...feature,
    create(core) {
      const { deps, ...running } = create(core);
      return {
        ...running,
        routes: bindRoutes(feature.routes ?? [], { ...core, ...deps } as FeatureContext & D),
      };
    },
  };
}
