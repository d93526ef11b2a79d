import { parseDuration } from '../../../common/durations.js';
import { ERRORS, MillraceError } from '../../../common/errors.js';
import { parseFlags } from '../../../common/flags.js';
import { parseTime } from '../../../common/times.js';
import { DAY_MS, DEAD_LETTER_DAYS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.js';

/** @import { Flag } from '../../../common/flags.js' */
/** @import { Range } from '../../store/dead-letters/reads.js' */

const COMMAND = 'npm run dead-letters --';

const HELP = `${COMMAND} takes one of these, each of which says by --help what it takes in turn:

  list             what was refused, newest first
  summary          how much of it, by hour and code
  show ID          one dead letter, with its payload
  replay ID…       stores what was refused, after the cause was mended
  replay --from …  the same for all letters of a range`;

/** @satisfies {Record<string, Flag>} */
const RANGE = {
  from: { type: 'text', help: 'ISO 8601, or how long ago, such as 2h; default a day ago' },
  to: { type: 'text', help: 'the same, not included; default now' },
};

/** @satisfies {Record<string, Flag>} */
const FILTER = {
  ...RANGE,
  code: { type: 'text', help: 'letters with this code alone, such as unknown_device' },
  device: { type: 'text', help: 'of this device alone, as the topic has it' },
};

/** The flags of each command. @satisfies {Record<string, Record<string, Flag>>} */
const FLAGS = {
  list: {
    ...FILTER,
    limit: { type: 'integer', help: 'most letters shown', fallback: 50, min: 1 },
  },
  summary: RANGE,
  show: {},
  replay: FILTER,
};

/**
 * @typedef {object} Arguments
 * @property {keyof typeof FLAGS} command
 * @property {string[]} ids of letters
 * @property {Range} range epoch ms
 * @property {string | undefined} code
 * @property {string | undefined} device
 * @property {number} limit
 */

/**
 * @param {string[]} argv without node and script
 * @param {number} now epoch ms
 * @returns {Arguments}
 * @throws {MillraceError} `usage`, `help`
 */
export function readArguments(argv, now) {
  const [command = '', ...rest] = argv;
  if (command === '--help') throw new MillraceError('help', HELP);
  if (!isCommand(command)) {
    throw new MillraceError('usage', `${command ? `"${command}" is not known.\n\n` : ''}${HELP}`);
  }
  const flagsAt = rest.findIndex((word) => word.startsWith('-'));
  const ids = flagsAt < 0 ? rest : rest.slice(0, flagsAt);
  const flags = flagsAt < 0 ? [] : rest.slice(flagsAt);
  /** @type {Record<string, any>} */
  const given = parseFlags(`${COMMAND} ${command}`, FLAGS[command], flags);
  const [from, to] = [readMoment(given['from'], now), readMoment(given['to'], now)];
  const problems = namesWrong(command, ids, from !== undefined);
  if (given['code'] !== undefined && !isRefusal(given['code'])) problems.push(WRONG_CODE);
  if (from === null) problems.push(`--from ${WRONG_MOMENT}`);
  if (to === null) problems.push(`--to ${WRONG_MOMENT}`);
  if (problems.length > 0) throw new MillraceError('usage', problems.join('\n'));
  return {
    command,
    ids,
    range: rangeOf(from, to, now),
    code: given['code'],
    device: given['device'],
    limit: given['limit'],
  };
}

const WRONG_CODE = '--code is one of the refusals in docs/errors.md';
const WRONG_MOMENT = 'is ISO 8601, or a duration such as 2h';

/** @param {string} word @returns {word is keyof typeof FLAGS} */
const isCommand = (word) => Object.hasOwn(FLAGS, word);

/** @param {string} code */
const isRefusal = (code) =>
  Object.hasOwn(ERRORS, code) && ERRORS[/** @type {keyof typeof ERRORS} */ (code)].kind === 'refusal';

/** @param {keyof typeof FLAGS} command @param {string[]} ids @param {boolean} hasRange @returns {string[]} */
function namesWrong(command, ids, hasRange) {
  if (command === 'show' && ids.length !== 1) return ['show takes the id of one letter'];
  // Everything of the last day is a lot to store by a slip of the hand.
  if (command === 'replay' && (ids.length === 0) !== hasRange) {
    return ['replay takes ids of letters, or a range that begins with --from'];
  }
  if (command !== 'show' && command !== 'replay' && ids.length > 0) return [`"${ids[0]}" is no flag`];
  return [];
}

/**
 * @param {string | undefined} text
 * @param {number} now epoch ms
 * @returns {number | null | undefined} epoch ms; null: neither a time nor a duration
 */
function readMoment(text, now) {
  if (text === undefined) return undefined;
  const ago = parseDuration(text);
  return ago === null ? parseTime(text) : now - ago;
}

/**
 * @param {number | null | undefined} from
 * @param {number | null | undefined} to
 * @param {number} now epoch ms
 */
function rangeOf(from, to, now) {
  // A letter is stamped by the clock of another process, which may be ahead of ours.
  const end = Math.min(to ?? Number.POSITIVE_INFINITY, now + MOST_CLOCK_DIFFERENCE_MS);
  return {
    from: Math.max(from ?? Math.min(end, now) - DAY_MS, now - DEAD_LETTER_DAYS * DAY_MS),
    to: end,
  };
}
