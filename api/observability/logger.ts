import type { DestinationStream, LoggerOptions } from 'pino';
import pino from 'pino';

const SECRET_FIELDS = ['password', 'token', 'secret', 'authorization', 'cookie', 'apiToken', 'cursorSecret'];

/**
 * Writes JSON lines to standard output and sums up repeated lines. Secrets are removed by field name, and from any
 * text, because the error of a library may quote its input.
 */
export function createLogger(
  level: string,
  {
    secrets = [],
    destination = pino.destination(1),
  }: {
    secrets?: string[];
    destination?: DestinationStream;
  } = {},
) {
  const hide = createRedaction(secrets);
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: HIDDEN },
      hooks: { logMethod: limitRepetitions(), streamWrite: (line) => escapeControls(hide(line)) },
    },
    destination,
  );
}

const HIDDEN = '[secret]';

/**
 * JSON need not escape them, but a terminal may obey them: DEL, the C1 control characters (U+009B starts a sequence
 * like ESC [), line separators, and changes of the writing direction.
 */
const CONTROLS = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const escapeControls = (line: string): string =>
  line.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** It contains no secret, and log readers depend on it, so it is not redacted. */
const HEAD = /^\{"level":\d+,"time":"[^"]*","pid":\d+/;

/** A text or a number in JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Hides secrets in texts, and numbers that are equal to a secret. The line stays valid JSON, whatever the secrets are. */
function createRedaction(secrets: string[]): (line: string) => string {
  // Put the longest secret first, because a shorter secret may be a part of it.
  const known = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  if (known.length === 0) return (line) => line;
  const patterns = known.map(patternOf);
  const hide = (token: string) => {
    if (!token.startsWith('"')) return known.includes(token) ? `"${HIDDEN}"` : token;
    const text: string = JSON.parse(token);
    const hidden = patterns.reduce((rest: string, pattern) => rest.replaceAll(pattern, HIDDEN), text);
    return hidden === text ? token : JSON.stringify(hidden);
  };
  return (line) => {
    const head = HEAD.exec(line)?.[0] ?? '';
    return head + line.slice(head.length).replace(TOKEN, hide);
  };
}

/** A secret of digits may be short, such as a PIN, so the pattern does not match inside a longer number. */
const patternOf = (secret: string) =>
  /^\d+$/.test(secret) ? new RegExp(`(?<!\\d)${secret}(?!\\d)`, 'g') : secret;

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

/** Lines with the same text in a window; further lines are only counted. */
const WINDOW_MS = 10_000;
const MAX_LINES = 10;

/** Lines with any further text are counted together. */
const MAX_TEXTS = 500;
const OTHERS = 'other lines';

/**
 * Limits repeated lines, so that an error of each message, device or request does not fill the log. At the end of a
 * window, the last suppressed line is written, with the number of suppressed lines (`unsaid`). Audit lines have no
 * limit, because nobody may hide one action behind many.
 *
 * `LogThrottle` is for a caller that knows the key of an event. This limit applies to all other lines.
 */
function limitRepetitions() {
  const texts: Map<string, { lines: number; unsaid: number; last: () => void }> = new Map();

  function openWindow(text: string) {
    const window = { lines: 0, unsaid: 0, last: () => {} };
    texts.set(text, window);
    setTimeout(() => {
      texts.delete(text);
      if (window.unsaid > 0) window.last();
    }, WINDOW_MS).unref();
    return window;
  }

  return function logMethod(args, method, level) {
    if (level < 30 || isAudit(args)) return method.apply(this, args);
    const text = textOf(args);
    const key = texts.has(text) || texts.size < MAX_TEXTS ? text : OTHERS;
    const window = texts.get(key) ?? openWindow(key);
    if (window.lines < MAX_LINES) {
      window.lines++;
      return method.apply(this, args);
    }
    window.unsaid++;
    window.last = () => {
      const [first, ...rest] = args;
      const { unsaid } = window;
      if (typeof first === 'object') method.call(this, { ...first, unsaid }, ...rest);
      else method.call(this, { unsaid }, first as string, ...rest);
    };
  } satisfies LogMethod;
}

const isAudit = ([first]: unknown[]) =>
  typeof first === 'object' && first !== null && 'audit' in first && first.audit === true;

/** A call of pino has details and text, or only text. */
const textOf = ([first, second]: unknown[]): string =>
  typeof first === 'string' ? first : String(second ?? '');
