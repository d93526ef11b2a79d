import { printable } from '../../../common/printable.js';
import { parseSenmlCbor } from '../../ingest/decode/senml-cbor.js';

/** @import { StoredContent } from '../../store/dead-letters/dead-letter.js' */

/** Bytes of what is neither JSON nor CBOR nor text that are shown, and how many a line. */
const MOST_HEX_BYTES = 1024;
const HEX_BYTES_A_LINE = 32;

/** What is nested deeper is shown as it came: to write it out takes a stack, and lines as long as it is deep. */
const MOST_LEVELS = 32;

/**
 * A payload for people to read: an array, be it JSON or CBOR, an element a line, with what was refused behind it;
 * any other JSON as such; else text, else hexadecimal.
 *
 * @param {StoredContent} content
 * @returns {string[]} lines
 */
export function payloadLines(content) {
  const { payload } = content;
  const read = parse(payload);
  const parsed = isShallow(read) ? read : undefined;
  if (Array.isArray(parsed)) return parsed.map((element, index) => elementLine(element, index, content));
  if (parsed !== undefined) return JSON.stringify(parsed, null, 2).split('\n').map(printable);
  const text = textOf(payload);
  if (text !== null) return text.split(/\r?\n/).map(printable);
  const shown = payload.subarray(0, MOST_HEX_BYTES).toString('hex');
  const lines = shown.match(new RegExp(`.{1,${2 * HEX_BYTES_A_LINE}}`, 'g')) ?? [];
  return payload.length > MOST_HEX_BYTES ? [...lines, '…'] : lines;
}

/** @param {unknown} element @param {number} index @param {StoredContent} content */
function elementLine(element, index, { refused, isRefused }) {
  const code = refused.find((one) => one.index === index)?.code;
  const mark = code ?? (isRefused?.(index) ? 'refused' : '');
  return `[${index}] ${printable(JSON.stringify(element))}${mark && `   <- ${mark}`}`;
}

/** @param {unknown} value @param {number} [levels] @returns {boolean} */
const isShallow = (value, levels = MOST_LEVELS) =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1)));

/** @param {Buffer} payload @returns {unknown} undefined: neither JSON nor SenML in CBOR */
function parse(payload) {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    // What is no JSON may be CBOR, or was refused for being neither.
  }
  try {
    return parseSenmlCbor(payload);
  } catch {
    return undefined;
  }
}

/** @param {Buffer} payload @returns {string | null} null: no UTF-8 */
function textOf(payload) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(payload);
  } catch {
    return null;
  }
}
