import pino from 'pino';

/** @import { DestinationStream, Logger } from 'pino' */

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
 * @param {DestinationStream} [options.destination]
 */
export function createLogger(level, { secrets = [], destination = pino.destination(1) } = {}) {
  const hide = createHiding(secrets);
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: HIDDEN },
      hooks: { logMethod: createLogThrottle(), streamWrite: (line) => escapeControls(hide(line)) },
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

/** Lines of one text within this time, in ms; those beyond are counted. */
const WITHIN_MS = 10_000;
const MOST_LINES = 10;

/** Texts that are told apart; beyond them all others count as one. */
const MOST_TEXTS = 500;
const OTHERS = 'other lines';

/**
 * How pino hands on what is to be logged.
 *
 * @callback LogMethod
 * @param {any[]} args
 * @param {(...args: any[]) => void} method
 * @returns {void}
 */

/**
 * Keeps one thing that goes wrong with each message, device or request from filling the log: of each text some lines
 * are written, and at the end of the time the last of those that were not, with how many there were (`unsaid`). What
 * is for developers, `debug` and `trace`, is written as it comes; and so is what an administrator did (`audit`): nobody hides
 * one act behind many.
 *
 * @param {{ withinMs?: number, mostLines?: number }} [bounds]
 */
function createLogThrottle({ withinMs = WITHIN_MS, mostLines = MOST_LINES } = {}) {
  /** @type {Map<string, { lines: number, unsaid: number, last: () => void }>} */
  const texts = new Map();

  /** @param {string} text */
  function begin(text) {
    const one = { lines: 0, unsaid: 0, last: () => {} };
    texts.set(text, one);
    setTimeout(() => {
      texts.delete(text);
      if (one.unsaid > 0) one.last();
    }, withinMs).unref();
    return one;
  }

  /** @type {(this: Logger, args: any[], method: (...args: any[]) => void, level: number) => void} */
  return function logMethod(args, method, level) {
    if (level < 30 || isAudit(args)) return method.apply(this, args);
    const text = textOf(args);
    const key = texts.has(text) || texts.size < MOST_TEXTS ? text : OTHERS;
    const one = texts.get(key) ?? begin(key);
    if (one.lines < mostLines) {
      one.lines++;
      return method.apply(this, args);
    }
    one.unsaid++;
    one.last = () => {
      const [first, ...rest] = args;
      const { unsaid } = one;
      if (typeof first === 'object') method.call(this, { ...first, unsaid }, ...rest);
      else method.call(this, { unsaid }, ...args);
    };
  };
}

/** @param {any[]} args of pino */
const isAudit = ([first]) => first?.audit === true;

/** @param {any[]} args of pino: details and text, or text alone @returns {string} */
const textOf = ([first, second]) => (typeof first === 'string' ? first : String(second ?? ''));
