import pino from 'pino';
import { createRestraint } from './log-restraint.js';

/** Fields that hold a secret whatever it is, wherever they come from. */
const SECRET_FIELDS = ['password', 'token', 'secret', 'authorization', 'cookie', 'apiToken', 'cursorSecret'];

/**
 * JSON lines on standard output, one a fact. What repeats is told a few times and then summed up, and no secret is in
 * them, neither by its field's name nor within some text: an error of a library may quote what it was given.
 *
 * @param {string} level
 * @param {object} [options]
 * @param {string[]} [options.secrets] of the settings
 * @param {import('pino').DestinationStream} [options.destination]
 */
export function createLogger(level, { secrets = [], destination = pino.destination(1) } = {}) {
  const hide = createHiding(secrets);
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: HIDDEN },
      hooks: { logMethod: createRestraint(), streamWrite: hide },
    },
    destination,
  );
}

const HIDDEN = '[secret]';

/** @param {string[]} secrets @returns {(line: string) => string} */
function createHiding(secrets) {
  // In a line of JSON a secret stands as JSON writes it. The longest first: one may be a part of another.
  const written = secrets
    .filter((secret) => secret !== '')
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  return (line) => written.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line);
}
