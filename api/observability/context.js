import { createMetrics } from './metrics.js';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Metrics } from './metrics.js' */

/**
 * Everything that all parts of a process share. It is the first parameter of each room's door.
 *
 * @typedef {object} Context
 * @property {Config} config
 * @property {() => number} clock epoch ms
 * @property {Logger} logger
 * @property {Metrics} metrics
 */

/**
 * @param {object} options
 * @param {Config} options.config
 * @param {string} options.version of this program
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
