import pino from 'pino';

/**
 * JSON lines on standard output, one a fact.
 *
 * @param {string} level
 * @returns {import('pino').Logger}
 */
export const createLogger = (level) =>
  pino({ level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime });
