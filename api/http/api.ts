import type { RequestHandler } from 'express';
import express from 'express';
import { compressAnswers } from './compression.ts';
import { mqttItem } from './items.ts';
import type { RouteCore } from './route.ts';
import { API_ROUTES, type CoreParts } from './routes/index.ts';
import { addressOf, type BoundRoute, bindRoutes, serve } from './serve.ts';

const API = '/api/v1';

/** The routes of the core and of `features`, without those of the state of this process. `mqttPort`: port of the embedded broker. */
export function createApi(
  core: RouteCore,
  {
    features,
    mqttPort,
    ...parts
  }: Omit<CoreParts, 'mqtt' | 'streamedUntil'> & {
    features: Pick<CoreParts, 'streamedUntil'> & {
      routes: BoundRoute[];
      extend: (route: BoundRoute) => BoundRoute;
    };
    mqttPort: () => number;
  },
) {
  const { streamedUntil } = features;
  const deps = { ...core, ...parts, streamedUntil, mqtt: () => mqttItem(core.context.config, mqttPort()) };
  const routes = [...bindRoutes(API_ROUTES, deps), ...features.routes].map(features.extend);
  const router = express.Router();
  const elsewhere = routes.map(({ path }) => path).filter((path) => !path.startsWith(API));
  router.use([API, ...elsewhere.map(addressOf)], noStore, compressAnswers());
  serve(router, routes, core.http.access);
  return router;
}

const noStore: RequestHandler = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};
