/**
 * Invisible characters, and those that change the reading order: controls except the line feed, marks of direction,
 * spaces of no width, halves of surrogate pairs.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Shows a text of strangers as what it is: whatever would not be seen is written as an escape of JSON.
 *
 * @param {string} text
 * @returns {string}
 */
export const escapeUnseen = (text) =>
  text.replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same for what stands on one line. @param {string} text */
export const escapeLine = (text) => escapeUnseen(text).replaceAll('\n', '\\n');

/** @param {Iterable<number>} bytes @param {string} [between] @returns {string} two digits each */
export const hexOf = (bytes, between = '') =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(between);

/**
 * @param {Uint8Array} bytes
 * @param {number} width bytes a line
 * @returns {string} where they stand, in hexadecimal, and as ASCII where that can be seen
 */
export function dumpOf(bytes, width) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += width) {
    const line = [...bytes.subarray(at, at + width)];
    const hex = hexOf(line, ' ');
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(3 * width - 1)}  ${text}`);
  }
  return lines.join('\n');
}

/**
 * JSON laid out for reading, from its own text: parsed and written again, a number beyond a double would be another one,
 * and of a member that stands there twice one would be gone.
 */

/** Strings, and all that stands between them and the signs of structure. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** An element shorter than this stands on one line. */
const LINE = 100;

/**
 * @param {string} text valid JSON
 * @returns {string[]} the elements of a top-level array, or the one value that it is; each as it stands in the text
 */
export function elementsOf(text) {
  const tokens = tokensOf(text);
  if (tokens[0] !== '[') return [layOut(tokens)];
  /** @type {string[][]} */
  const elements = [];
  let depth = 0;
  for (const token of tokens.slice(1, -1)) {
    if (token === ',' && depth === 0) {
      elements.push([]);
      continue;
    }
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (elements.length === 0) elements.push([]);
    elements.at(-1)?.push(token);
  }
  return elements.map(layOut);
}

/** @param {string} text @returns {string[]} */
const tokensOf = (text) => text.match(TOKEN) ?? [];

/** @param {string[]} tokens of one value @returns {string} on one line where it is short, else a member a line */
function layOut(tokens) {
  const line = onOneLine(tokens);
  return line.length <= LINE ? line : indented(tokens);
}

/** @param {string[]} tokens */
function onOneLine(tokens) {
  let line = '';
  for (const token of tokens) line += token === ',' || token === ':' ? `${token} ` : token;
  return line;
}

/** @param {string[]} tokens */
function indented(tokens) {
  let text = '';
  let depth = 0;
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const isEmpty = before === '{' || before === '[';
    if (token === '}' || token === ']') {
      depth--;
      text += isEmpty ? token : newLine() + token;
      continue;
    }
    if (isEmpty) text += newLine();
    text += token === ':' ? ': ' : token;
    if (token === ',') text += newLine();
    if (token === '{' || token === '[') depth++;
  }
  return text;
}
