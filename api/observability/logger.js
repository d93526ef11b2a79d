import pino from 'pino';
import { createRestraint } from './log-restraint.js';

/** Fields that hold a secret whatever it is, wherever they come from. */
const SECRET_FIELDS = ['password', 'token', 'secret', 'authorization', 'cookie', 'apiToken', 'cursorSecret'];

/**
 * JSON lines on standard output, one a fact. What repeats is told a few times and then summed up, and no secret is in
 * them, neither by its field's name nor within some text: an error of a library may quote what it was given. Nor does a
 * terminal obey them.
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
      hooks: { logMethod: createRestraint(), streamWrite: (line) => escapeControls(hide(line)) },
    },
    destination,
  );
}

const HIDDEN = '[secret]';

/**
 * What JSON may hold as it is and a terminal may take for a command: DEL, the control characters of C1 (U+009B begins a
 * sequence as ESC [ does), and what breaks lines or turns the direction of writing.
 */
const CONTROLS = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** @param {string} line of JSON, which stays the same one */
const escapeControls = (line) =>
  line.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** @param {string[]} secrets @returns {(line: string) => string} */
function createHiding(secrets) {
  // In a line of JSON a secret stands as JSON writes it. The longest first: one may be a part of another.
  const written = secrets
    .filter((secret) => secret !== '')
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  return (line) => written.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line);
}
