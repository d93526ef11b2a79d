import { brokenArrayRule } from '../../ingest/decode/index.ts';
import { MAX_DEPTH, type Pointer, pointerText } from './pointer.ts';

/** A text that is a number in JSON may be an id, so it is a value only where the mapping allows it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** With an exponent, such as 6412E3, a text is rather an id of hexadecimal digits. */
const PROBABLE = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** characters of a member's name in the text of a refusal */
const MAX_NAME = 128;

export const isProbableNumber = (text: string): boolean => PROBABLE.test(text.trim());

/** Returns null if the value is no number. */
export function toNumber(value: unknown, words: Record<string, number>, readsText: boolean): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return null;
  if (Object.hasOwn(words, value)) return Number(words[value]);
  const text = value.trim();
  return readsText && NUMBER.test(text) ? Number(text) : null;
}

const NOT_NUMERIC = 'must be a number, true, false, or one of the words of the mapping';
const TEXT_OF_POINTER = 'is a text; if it is a number, set numbers: text in this entry of the mapping';
const TEXT_OF_ALL =
  'is a text; if it is a number, list its name in numbers of this entry, and otherwise in ignore';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `at`: where the mapping expects a number */
function objectRule(value: Record<string, unknown>, at: Pointer): string {
  const [member = 'temperature'] = Object.keys(value).filter((name) => name.length <= MAX_NAME);
  return `is an object; the mapping needs pointer: '${pointerText([...at, member])}' for one of its values, or all: '${pointerText(at)}' for all`;
}

const arrayRule = (at: Pointer): string =>
  `is an array; the mapping needs pointer: '${pointerText([...at, '0'])}' for its first element, or all: '${pointerText(at)}' for all`;

/** `isOfAll`: `all` found the value */
export function brokenNumberRule(value: unknown, at: Pointer, isOfAll: boolean): string {
  if (Array.isArray(value)) return isOfAll ? (brokenArrayRule(value) ?? NOT_NUMERIC) : arrayRule(at);
  if (isObject(value))
    return isOfAll ? `must not be in more than ${MAX_DEPTH} objects` : objectRule(value, at);
  const isText = typeof value === 'string' && isProbableNumber(value);
  return isText ? (isOfAll ? TEXT_OF_ALL : TEXT_OF_POINTER) : NOT_NUMERIC;
}
