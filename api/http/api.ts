import type { RequestHandler } from 'express';
import express from 'express';
import type { CredentialService } from '../access/credentials/credential-service.ts';
import type { Alarms } from '../alarms/index.ts';
import type { Baselines } from '../history/baselines/index.ts';
import type { Retirement } from '../ingest/registry/index.ts';
import type { InstallationStats } from '../live/installation-stats.ts';
import type { UnwatchedTime } from '../observability/watched-time.ts';
import { compressAnswers } from './compression.ts';
import { mqttItem } from './items.ts';
import type { RouteContext } from './route.ts';
import * as alarmRules from './routes/alarm-rules.ts';
import * as alarms from './routes/alarms.ts';
import * as changes from './routes/changes.ts';
import * as credentials from './routes/credentials.ts';
import * as deadLetters from './routes/dead-letters.ts';
import * as devices from './routes/devices.ts';
import * as fleet from './routes/fleet.ts';
import * as latest from './routes/latest.ts';
import * as measurements from './routes/measurements.ts';
import * as outliers from './routes/outliers.ts';
import * as refusedDevices from './routes/refused-devices.ts';
import * as search from './routes/search.ts';
import * as session from './routes/session.ts';
import * as unmatchedTopics from './routes/unmatched-topics.ts';
import { addressOf, type BoundRoute, bindRoutes, serve } from './serve.ts';
import { createStream } from './stream/index.ts';

const API = '/api/v1';

/** All routes but those of the state of this process. `mqttPort`: port of the embedded broker. */
export function createApi(
  core: RouteContext,
  parts: {
    /** with routes of their own */
    features: Array<{ routes: BoundRoute[] }>;
    alarms: Alarms;
    baselines: Baselines;
    credentials: CredentialService;
    retire: Retirement['retire'];
    stats: Pick<InstallationStats, 'read' | 'health' | 'recent'>;
    unwatchedTime: Pick<UnwatchedTime, 'read'>;
    mqttPort: () => number;
    /** in ms; a channel of `/stream` then reads `latest` again */
    resyncMs: number;
  },
) {
  const stream = createStream({ ...core, ...parts });
  const deps = { ...core, ...parts, stream, mqtt: () => mqttItem(core.config, parts.mqttPort()) };
  const routes = [
    ...bindRoutes(latest.routes, deps),
    ...bindRoutes(outliers.routes, deps),
    ...bindRoutes(fleet.routes, deps),
    ...bindRoutes(search.routes, deps),
    ...bindRoutes(devices.routes, deps),
    ...bindRoutes(measurements.routes, deps),
    ...bindRoutes(changes.routes, deps),
    ...parts.features.flatMap(({ routes }) => routes),
    ...bindRoutes(alarmRules.routes, deps),
    ...bindRoutes(alarms.routes, deps),
    ...bindRoutes(refusedDevices.routes, deps),
    ...bindRoutes(deadLetters.routes, deps),
    ...bindRoutes(unmatchedTopics.routes, deps),
    ...bindRoutes(credentials.routes, deps),
    ...bindRoutes(session.routes, deps),
  ];
  const router = express.Router();
  const elsewhere = routes.map(({ path }) => path).filter((path) => !path.startsWith(API));
  router.use([API, ...elsewhere.map(addressOf)], noStore, compressAnswers());
  serve(router, routes, core.access);
  return { router, readers: stream.readers, stopStreams: stream.stop };
}

export type Api = ReturnType<typeof createApi>;

const noStore: RequestHandler = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  next();
};
