import pino from 'pino';

/**
 * A logger whose lines a test can read.
 *
 * @param {string} [level] the lowest level that is logged (default `info`)
 */
export function createLogs(level = 'info') {
  /** @type {Array<{ level: number, msg: string, [key: string]: any }>} */
  const lines = [];
  const logger = pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}
