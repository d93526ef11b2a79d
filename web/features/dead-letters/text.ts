/**
 * Invisible characters and characters that change the reading order: controls except the line feed, direction marks,
 * zero-width spaces, lone surrogates.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Escapes the invisible characters of an untrusted text as in JSON. */
export const escapeInvisible = (text: string): string =>
  text.replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Escapes an untrusted text for one line. */
export const escapeLine = (text: string) => escapeInvisible(text).replaceAll('\n', '\\n');

export const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** @returns number of bytes that the base64 text encodes */
export const bytesIn = (base64: string): number =>
  (base64.length / 4) * 3 - (base64.match(/=+$/)?.[0].length ?? 0);

/** Maximum length of a preview: characters of a text; otherwise, bytes of a payload that is no text. */
const PREVIEW_CHARACTERS = 120;
const PREVIEW_BYTES = 24;

/**
 * Returns the beginning of a payload on one line.
 *
 * @param characters maximum length of the text
 * @returns text, or hexadecimal bytes if the payload is no UTF-8
 */
export function previewOf(base64: string, characters: number = PREVIEW_CHARACTERS): string {
  // Four characters of base64 hold three bytes, and a character has at most four bytes.
  const cut = base64.slice(0, 4 * 4 * Math.ceil(characters / 3));
  const bytes = bytesOf(cut);
  const isWhole = cut.length === base64.length;
  try {
    // In stream mode, a character that is cut off at the end is no error.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    const all = [...escapeLine(text)];
    const shown = all.slice(0, characters).join('');
    return isWhole && all.length <= characters ? shown : `${shown}…`;
  } catch {
    return hexOf(bytes.subarray(0, PREVIEW_BYTES), ' ') + (bytes.length > PREVIEW_BYTES ? ' …' : '');
  }
}

/** @returns bytes in hexadecimal, two digits each */
export const hexOf = (bytes: Iterable<number>, between: string = ''): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(between);

/** @param width bytes per line @returns a hex dump: offset, bytes in hexadecimal, and printable ASCII characters */
export function dumpOf(bytes: Uint8Array, width: number): string {
  const lines = [];
  for (let at = 0; at < bytes.length; at += width) {
    const line = [...bytes.subarray(at, at + width)];
    const hex = hexOf(line, ' ');
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(3 * width - 1)}  ${text}`);
  }
  return lines.join('\n');
}
