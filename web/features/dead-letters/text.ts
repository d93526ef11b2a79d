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

/**
 * @param width bytes per line
 * @returns a hex dump: offset, bytes in hexadecimal, and printable ASCII characters
 */
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

/** Matches a JSON token: a string, a structural character, or any other run of characters. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Length in characters below which an element is written on one line. */
const LINE = 100;

/**
 * @param text valid JSON
 * @returns the elements of a top-level array, or the single value, with unchanged tokens
 */
export function elementsOf(text: string): string[] {
  const tokens = tokensOf(text);
  if (tokens[0] !== '[') return [layOut(tokens)];
  const elements: string[][] = [];
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

const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];

/**
 * @param tokens tokens of one value
 * @returns the value on one line if it is short, otherwise one member per line
 */
function layOut(tokens: string[]): string {
  const line = onOneLine(tokens);
  return line.length <= LINE ? line : indented(tokens);
}

function onOneLine(tokens: string[]) {
  let line = '';
  for (const token of tokens) line += token === ',' || token === ':' ? `${token} ` : token;
  return line;
}

function indented(tokens: string[]) {
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

/** A half-open range of characters of a text. */
type ByteRange = { begin: number; end: number };

/** An array or object whose end is not read yet. */
type Container = {
  path: string;
  begin: number;
  isArray: boolean;
  index: number;
  key: string;
  isAtKey: boolean;
};

/**
 * Finds values in a JSON text by their paths, such as `sensors[3].unit`.
 *
 * @param json valid JSON
 * @returns ranges by path; missing values have no entry
 */
export function findValues(json: string, paths: ReadonlySet<string>): Map<string, ByteRange> {
  const found: Map<string, ByteRange> = new Map();
  const open: Container[] = [];
  const note = (path: string, begin: number, end: number) => {
    if (paths.has(path) && !found.has(path)) found.set(path, { begin, end });
  };
  for (const { 0: token, index: at } of json.matchAll(TOKEN)) {
    const container = open.at(-1);
    if (token === '{' || token === '[') {
      const isArray = token === '[';
      open.push({ path: pathIn(container), begin: at, isArray, index: 0, key: '', isAtKey: !isArray });
    } else if (token === '}' || token === ']') {
      const closed = open.pop();
      if (closed) note(closed.path, closed.begin, at + 1);
    } else if (!container) {
      note('', at, at + token.length);
    } else if (token === ',') {
      container.index++;
      container.isAtKey = !container.isArray;
    } else if (token === ':') {
      container.isAtKey = false;
    } else if (container.isAtKey) {
      container.key = memberName(token);
    } else {
      note(pathIn(container), at, at + token.length);
    }
  }
  return found;
}

/**
 * @param container array or object that contains the value; undefined: the value is at the top level
 * @returns path of the next value of the container
 */
function pathIn(container: Container | undefined): string {
  if (!container) return '';
  const { path, isArray, index, key } = container;
  if (isArray) return `${path}[${index}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** @returns name of a member; decoded CBOR may have keys that are no strings, which stay as they are */
function memberName(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

export type Piece = { text: string; isMarked: boolean };

/**
 * Splits a JSON text at the values to which the paths lead. If a value is missing, the enclosing object is marked, unless it is
 * the whole text.
 *
 * @param json valid JSON
 * @returns pieces that together are the whole text, in order
 */
export function markValues(json: string, paths: string[]): Piece[] {
  const found = findValues(json, new Set(paths.flatMap(withParents)));
  const spans = paths.flatMap((path) => {
    const nearest = withParents(path).find((each) => found.has(each));
    return nearest === undefined ? [] : [found.get(nearest) as ByteRange];
  });
  const pieces: Piece[] = [];
  let reached = 0;
  const take = (end: number, isMarked: boolean) => {
    if (end > reached) pieces.push({ text: json.slice(reached, end), isMarked });
    reached = Math.max(reached, end);
  };
  for (const { begin, end } of spans.sort((a, b) => a.begin - b.begin)) {
    take(begin, false);
    take(end, true);
  }
  take(json.length, false);
  return pieces;
}

/** @returns the path and its enclosing paths, without the top level: `[2].value`, `[2]` */
function withParents(path: string): string[] {
  const parts = path.match(/\[\d+\]|[^.[]+/g) ?? [];
  return parts.map((_, index) => joinPath(parts.slice(0, parts.length - index)));
}

const joinPath = (parts: string[]): string =>
  parts.reduce((path, part) => (part.startsWith('[') || path === '' ? path + part : `${path}.${part}`), '');
