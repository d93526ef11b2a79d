import { isUtf8 } from 'node:buffer';
import { MillraceError } from '../../../common/errors.js';

/** Matches the charset parameter of a content type (RFC 9110, section 8.3.2). */
const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]+)"?/i;

/** Byte order marks, and the charset that each stands for (Unicode 16.0, 23.8). */
const MARKS = [
  { bytes: Buffer.from([0xef, 0xbb, 0xbf]), charset: 'utf-8' },
  { bytes: Buffer.from([0xff, 0xfe]), charset: 'utf-16le' },
  { bytes: Buffer.from([0xfe, 0xff]), charset: 'utf-16be' },
];

/**
 * Decodes the text of a payload. The charset is that of its byte order mark, else of its content type, else
 * UTF-8. Bytes that are invalid in this charset are refused. With replacement characters, two different names
 * could become equal. NUL bytes at the end are removed, since programs in C send them.
 *
 * @param {Buffer} payload
 * @param {string} [contentType] as MQTT 5 or HTTP carry it
 * @returns {string}
 * @throws {MillraceError} `malformed`: the bytes are no text; `unknown_format`: the charset is unknown
 */
export function textOf(payload, contentType) {
  const mark = markOf(payload);
  const charset = mark?.charset ?? CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  const bytes = mark ? payload.subarray(mark.bytes.length) : payload;
  const text = charset === 'utf-8' || charset === 'utf8' ? utf8(bytes) : decoded(bytes, charset);
  return withoutNul(text);
}

/** @param {Buffer} payload @returns {boolean} whether the payload begins with a byte order mark */
export const hasMark = (payload) => markOf(payload) !== undefined;

/** @param {Buffer} payload */
function markOf(payload) {
  const first = payload[0];
  // Nearly every payload begins with ASCII.
  if (first === undefined || first < 0x80) return undefined;
  return MARKS.find(({ bytes }) => payload.subarray(0, bytes.length).equals(bytes));
}

/** @param {Buffer} bytes */
function utf8(bytes) {
  if (!isUtf8(bytes))
    throw new MillraceError('malformed', 'must be UTF-8, or have the charset of its content type');
  return bytes.toString('utf8');
}

/** @param {Buffer} bytes @param {string} charset */
function decoded(bytes, charset) {
  let decoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch (error) {
    throw new MillraceError('unknown_format', `the charset ${charset} is unknown`, { cause: error });
  }
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new MillraceError('malformed', `must be ${charset}, as its sender declares`, { cause: error });
  }
}

/** @param {string} text */
function withoutNul(text) {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end--;
  return end === text.length ? text : text.slice(0, end);
}

/**
 * Matches a string of JSON, which `parseJsonText` does not change, or a number such as `nan`, which JSON does not
 * have. A string without a closing quote extends to the end of the text.
 */
const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\.)*"?|[-+]?\b(?:nan|infinity|inf)\b/gis;

/** JSON.parse reads this text as Infinity. The decoder refuses a measurement with this value. */
const INFINITE = '1e999';

/**
 * Parses JSON. Firmware writes a value that it could not measure as `nan`, `NaN`, `-nan`, `inf` or
 * `Infinity`. JSON has no such numbers (RFC 8259, section 6), so a second attempt replaces each such number by an
 * infinite number. Only this value is then refused, and not the other values in its message.
 *
 * @param {string} text
 * @returns {any}
 * @throws {MillraceError} `malformed`
 */
export function parseJsonText(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(
        text.replace(STRING_OR_NOT_FINITE, (part) => (part.startsWith('"') ? part : INFINITE)),
      );
    } catch {
      // The error of the first attempt is reported, because it has the position in the text of the sender.
      throw new MillraceError('malformed', /** @type {Error} */ (error).message, { cause: error });
    }
  }
}
