import { MillraceError } from '../../../common/errors.ts';

/**
 * Matches a string of JSON, which `parseJsonText` does not change, or a number such as `nan`, which JSON does not
 * have. A string without a closing quote extends to the end of the text.
 */
const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\.)*"?|[-+]?\b(?:nan|infinity|inf)\b/gis;

/** JSON.parse reads this text as Infinity. The decoder refuses a measurement with this value. */
const INFINITE = '1e999';

/**
 * Parses JSON. Firmware writes a value that it could not measure as `nan`, `NaN`, `-nan`, `inf` or `Infinity`.
 * JSON has no such numbers (RFC 8259, section 6), so a second attempt replaces each such number by an infinite
 * number. Only this value is then refused, and not the other values in its message.
 * @throws {MillraceError} `malformed`
 */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(
        text.replace(STRING_OR_NOT_FINITE, (part) => (part.startsWith('"') ? part : INFINITE)),
      );
    } catch {
      // The error of the first attempt is reported, because it has the position in the text of the sender.
      throw new MillraceError('malformed', (error as Error).message, { cause: error });
    }
  }
}
