import { parseArgs } from 'node:util';
import { durationText, parseDuration } from './durations.js';
import { MillraceError } from './errors.js';

/**
 * @typedef {object} Flag
 * @property {'number' | 'integer' | 'duration' | 'text' | 'switch'} type durations come out in ms, switches as booleans
 * @property {string} help one line, for the list that a wrong flag prints
 * @property {number | string | boolean} [fallback] value when the flag is not given; none: undefined
 * @property {number} [min] smallest number or duration taken
 */

/** @type {Record<Exclude<Flag['type'], 'switch'>, { says: string, read: (text: string) => number | string | null }>} */
const READERS = {
  text: { says: 'a text', read: (text) => text },
  duration: { says: 'a duration such as 500ms 1s 5m 1h 30d', read: parseDuration },
  number: { says: 'a number', read: readNumber },
  integer: {
    says: 'a whole number',
    read: (text) => (Number.isInteger(readNumber(text)) ? readNumber(text) : null),
  },
};

/** @param {string} text */
function readNumber(text) {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/**
 * Reads a command line; every problem is reported at once.
 *
 * @template {Record<string, Flag>} F
 * @param {string} command as a person types it, for the message
 * @param {F} flags
 * @param {string[]} argv without node and script
 * @returns {{ [K in keyof F]: any }} a value for each flag
 * @throws {MillraceError} `usage`, or `help` for --help, both with the list of flags
 */
export function parseFlags(command, flags, argv) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type }]) => [
      name,
      { type: /** @type {'string' | 'boolean'} */ (type === 'switch' ? 'boolean' : 'string') },
    ]),
  );
  /** @type {string[]} */
  const problems = [];
  const { values, positionals, tokens } = parseArgs({
    args: argv,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values['help'] === true && !('help' in flags))
    throw new MillraceError('help', usage(command, flags, []));
  for (const token of tokens) {
    if (token.kind === 'option' && !Object.hasOwn(flags, token.name))
      problems.push(`${token.rawName} is not known`);
  }
  for (const extra of positionals) problems.push(`"${extra}" is no flag`);
  const out = /** @type {Record<string, unknown>} */ ({});
  for (const [name, flag] of Object.entries(flags)) {
    out[name] = readFlag(name, flag, values[name], problems);
  }
  if (problems.length > 0) throw new MillraceError('usage', usage(command, flags, problems));
  return /** @type {{ [K in keyof F]: any }} */ (out);
}

/**
 * @param {string} name
 * @param {Flag} flag
 * @param {unknown} given
 * @param {string[]} problems gets a sentence when the value is wrong
 */
function readFlag(name, flag, given, problems) {
  if (given === undefined) return flag.fallback;
  if (flag.type === 'switch') {
    if (given !== true) problems.push(`--${name} takes no value`);
    return true;
  }
  const { says, read } = READERS[flag.type];
  const value = typeof given === 'string' ? read(given) : null;
  if (value === null) problems.push(`--${name} takes ${says}`);
  else if (flag.min !== undefined && Number(value) < flag.min) {
    problems.push(`--${name} is ${flag.type === 'duration' ? durationText(flag.min) : flag.min} or more`);
  }
  return value;
}

/** @param {string} command @param {Record<string, Flag>} flags @param {string[]} problems */
function usage(command, flags, problems) {
  const rows = Object.entries(flags).map(([name, { type, help, fallback }]) => {
    const left = `  --${name}${type === 'switch' ? '' : ` <${type}>`}`;
    const shown = type === 'duration' ? durationText(Number(fallback)) : fallback;
    return `${`${left}  `.padEnd(26)}${help}${fallback === undefined || fallback === false ? '' : ` (${shown})`}`;
  });
  return [...problems, ...(problems.length > 0 ? [''] : []), `${command} takes:`, ...rows].join('\n');
}
