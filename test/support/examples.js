/**
 * The console examples of the documents: commands behind `$ `, and the output that a reader is to see.
 */

/**
 * @typedef {object} Example
 * @property {number} line where the command stands in the document, from 1
 * @property {string} command may have several lines
 * @property {string[]} expected the lines of its output; none: any output
 */

const PROMPT = '$ ';

/**
 * Reads all ```console blocks. A command ends where its quotes are closed and its line does not end with a backslash.
 *
 * @param {string} markdown
 * @returns {Example[]}
 */
export function examplesOf(markdown) {
  /** @type {Example[]} */
  const examples = [];
  let inBlock = false;
  let isOpen = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    if (text.startsWith('```')) {
      inBlock = text === '```console';
      isOpen = false;
      continue;
    }
    if (!inBlock) continue;
    const last = examples.at(-1);
    if (isOpen && last) last.command += `\n${text}`;
    else if (text.startsWith(PROMPT))
      examples.push({ line: index + 1, command: text.slice(PROMPT.length), expected: [] });
    else if (last && text.trim()) last.expected.push(text.trim());
    isOpen = isUnfinished(examples.at(-1)?.command ?? '') && (isOpen || text.startsWith(PROMPT));
  }
  return examples;
}

/** @param {string} command */
const isUnfinished = (command) => command.endsWith('\\') || command.split("'").length % 2 === 0;

const HEX_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}-(?:[0-9a-f]{12}|…)/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?/;
const DURATION = /\d+(?:\.\d+)? (?:ms|s)\b/;
/** What differs from run to run, and `…` for what is left out. */
const VARIES = new RegExp(`(?<id>${HEX_ID.source})|(?<time>${TIME.source})|(?<duration>${DURATION.source})|…|\\s+`, 'g');
const ID = '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})';

/**
 * Compares output with what a document shows. Line breaks count as space, because documents fold long lines.
 *
 * @param {string} output
 * @param {string[]} expected
 * @returns {{ ids: Map<string, string> }} `ids`: those of the output, by what stands in the document
 * @throws {Error} with both texts, if they differ
 */
export function compareOutput(output, expected) {
  const text = expected.join(' ');
  /** @type {string[]} */
  const names = [];
  let pattern = '';
  let end = 0;
  for (const match of text.matchAll(VARIES)) {
    pattern += escaped(text.slice(end, match.index));
    end = match.index + match[0].length;
    const { id, time, duration } = match.groups ?? {};
    if (id) {
      names.push(id);
      pattern += ID;
    } else if (time) pattern += TIME.source;
    else if (duration) pattern += DURATION.source;
    else pattern += match[0] === '…' ? '[^]*?' : '\\s*';
  }
  pattern += escaped(text.slice(end));
  const found = new RegExp(pattern).exec(output);
  if (!found) throw new Error(`expected:\n${expected.join('\n')}\n\nbut the output was:\n${output}`);
  return { ids: new Map(names.map((name, index) => [name, String(found[index + 1])])) };
}

/** @param {string} text */
const escaped = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
