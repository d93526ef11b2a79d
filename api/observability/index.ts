/**
 * Metrics, logs, health, heartbeat and stats of a process. All other folders of `api/` report to this folder. It does not depend
 * on the format of messages.
 */
import { createMetrics } from './metrics.js';

export { Heartbeat, isSilent, ProcessWatch, processName } from './heartbeat.js';
export { BUCKETS } from './latency-histogram.js';
export { createLogger } from './logger.js';
export { prettyDestination } from './pretty-log.js';
export { isWell, ProcessHealth } from './process-health.js';
export { NO_MEASUREMENTS, ProcessStats, parseSnapshot, statsOf, sumOf } from './process-stats.js';
export { Readiness } from './readiness.js';
export { MAX_UNWATCHED_SPANS, UnwatchedTime, WatchedTime } from './watched-time.js';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Metrics } from './metrics.js' */

/**
 * The services that all folders of a process share. The main function of each folder gets this context as its first parameter.
 *
 * @typedef {object} Context
 * @property {Config} config
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * Creates the context of a process.
 *
 * @param {object} options
 * @param {Config} options.config
 * @param {string} options.version version of this program
 * @param {Logger} options.logger
 * @param {() => number} [options.clock] epoch ms (default: the clock of the machine)
 * @returns {Context}
 */
export const createContext = ({ config, version, logger, clock = Date.now }) => ({
  config,
  clock,
  logger,
  metrics: createMetrics({ version, role: config.role }),
});
