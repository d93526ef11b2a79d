import type { RequestHandler } from 'express';
import express from 'express';
import type { CredentialService } from '../access/credentials/credential-service.ts';
import type { Alarms } from '../alarms/index.ts';
import type { Retirement } from '../ingest/registry/index.ts';
import type { InstallationStats } from '../live/installation-stats.ts';
import type { UnwatchedTime } from '../observability/watched-time.ts';
import { compressAnswers } from './compression.ts';
import { mqttItem } from './items.ts';
import type { RouteContext } from './route.ts';
import * as alarmRules from './routes/alarm-rules.ts';
import * as alarms from './routes/alarms.ts';
import * as credentials from './routes/credentials.ts';
import * as devices from './routes/devices.ts';
import * as fleet from './routes/fleet.ts';
import * as latest from './routes/latest.ts';
import * as measurements from './routes/measurements.ts';
import * as search from './routes/search.ts';
import * as session from './routes/session.ts';
import * as unmatchedTopics from './routes/unmatched-topics.ts';
import { addressOf, type BoundRoute, bindRoutes, serve } from './serve.ts';
import type { Stream } from './stream/index.ts';

const API = '/api/v1';

/** All routes but those of the state of this process. `mqttPort`: port of the embedded broker. */
export function createApi(
  core: RouteContext & { stream: Stream },
  parts: {
    /** with routes of their own */
    features: Array<{ routes: BoundRoute[] }>;
    alarms: Alarms;
    credentials: CredentialService;
    retire: Retirement['retire'];
    stats: Pick<InstallationStats, 'recent'>;
    unwatchedTime: Pick<UnwatchedTime, 'read'>;
    mqttPort: () => number;
  },
) {
  const deps = { ...core, ...parts, mqtt: () => mqttItem(core.config, parts.mqttPort()) };
  const routes = [
    ...bindRoutes(latest.routes, deps),
    ...bindRoutes(fleet.routes, deps),
    ...bindRoutes(search.routes, deps),
    ...bindRoutes(devices.routes, deps),
    ...bindRoutes(measurements.routes, deps),
    ...parts.features.flatMap(({ routes }) => routes),
    ...bindRoutes(alarmRules.routes, deps),
    ...bindRoutes(alarms.routes, deps),
    ...bindRoutes(unmatchedTopics.routes, deps),
    ...bindRoutes(credentials.routes, deps),
    ...bindRoutes(session.routes, deps),
  ];
  const router = express.Router();
  const elsewhere = routes.map(({ path }) => path).filter((path) => !path.startsWith(API));
  router.use([API, ...elsewhere.map(addressOf)], noStore, compressAnswers());
  serve(router, routes, core.access);
  return router;
}

const noStore: RequestHandler = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};
