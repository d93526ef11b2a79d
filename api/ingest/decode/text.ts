import { MillraceError, messageOf } from '../../../common/errors.ts';

/** A string of JSON stays as it is, a number such as `nan` is replaced. A string without a closing quote extends to the end. */
const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\.)*"?|[-+]?\b(?:nan|infinity|inf)\b/gis;

/** JSON.parse reads this text as Infinity, which the decoder refuses as a value. */
const INFINITE = '1e999';

/**
 * Firmware writes a value that it could not measure as `nan`, `NaN`, `-nan`, `inf` or `Infinity`, which JSON does not
 * have (RFC 8259, section 6). So a second attempt replaces each by an infinite number, and only this value is refused.
 * @throws `malformed`
 */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const finite = text.replace(STRING_OR_NOT_FINITE, (part) => (part.startsWith('"') ? part : INFINITE));
    try {
      // A second attempt at the same text would double the longest turn: 900,000 open brackets take 45 ms each time.
      if (finite !== text) return JSON.parse(finite);
    } catch {
      // The error of the first attempt is reported, because it has the position in the text of the sender.
    }
    throw new MillraceError('malformed', messageOf(error), { cause: error });
  }
}
