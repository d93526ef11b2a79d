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
