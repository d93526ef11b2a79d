/**
 * Metrics, logs, health, heartbeat and stats of a process. All other folders of `api/` report to this folder. It does not depend
 * on the format of messages.
 */

import type { Logger } from 'pino';
import type { Config } from '../../common/settings/config.ts';
import { createMetrics, type Metrics } from './metrics.ts';

export { isSilent, processName } from './heartbeat.ts';
export { BUCKETS } from './hot-metrics.ts';
export { COMMIT_BUCKETS, END_TO_END_BUCKETS } from './ingest-metrics.ts';
export { createLogger } from './logger.ts';
export { counted } from './metric-declarations.ts';
export { prettyDestination } from './pretty-log.ts';
export { isWell } from './process-health.ts';
export { ProcessReports } from './process-reports.ts';
export { NO_MEASUREMENTS, ProcessStats, parseSnapshot, statsOf, sumOf } from './process-stats.ts';
export { MAX_UNWATCHED_SPANS, UnwatchedTime } from './watched-time.ts';

/** The services that all folders of a process share. The main function of each folder gets this context as its first parameter. */
export interface Context {
  config: Config;
  /** epoch ms */
  clock: () => number;
  logger: Logger;
  metrics: Metrics;
}

export const createContext = ({
  config,
  version,
  logger,
  clock = Date.now,
}: {
  config: Config;
  version: string;
  logger: Logger;
  /** epoch ms */
  clock?: () => number;
}): Context => ({
  config,
  clock,
  logger,
  metrics: createMetrics({ version, role: config.role }),
});
