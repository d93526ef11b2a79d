/** The console examples of the documents: commands after `$ `, and the output that a reader should see. */

/** A step that a document asks its reader to take. */
export interface Step {
  /** of the document, from 1 */
  line: number;
  title: string;
  /** with the lines of its output; none: any output */
  command: { text: string; expected: string[] } | undefined;
  /** Ctrl-C in the first terminal, with the lines that follow */
  stop: string[] | undefined;
  /** to create */
  file: { path: string; content: string } | undefined;
  /** of a file */
  change: { path: string; before: string; after: string } | undefined;
}

const PROMPT = '$ ';

/**
 * Reads the steps of a document:
 * - a block `console`: commands after `$ `, each with its output. Without a command: the output after Ctrl-C.
 * - a block `js` or `ts` after "Create `path`" or "Save this as `path`": a file.
 * - a block `diff`: a change of the file that was named last.
 */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  let named = '';
  let creates = '';
  for (const { line, language, text, before } of blocksOf(markdown)) {
    for (const [, path = ''] of before.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.\w+)`/g)) named = path;
    [, creates = ''] = [...before.matchAll(/(?:Create|Save this as) `([^`]+)`/g)].at(-1) ?? [];
    if (language === 'console') steps.push(...commandsOf(text, line));
    if (/^[jt]s$/.test(language) && creates)
      steps.push(step({ line, title: `create ${creates}`, file: { path: creates, content: `${text}\n` } }));
    if (language === 'diff')
      steps.push(step({ line, title: `change ${named}`, change: { path: named, ...sidesOf(text) } }));
  }
  return steps;
}

const step = (given: Partial<Step> & { line: number; title: string }): Step => ({
  command: undefined,
  stop: undefined,
  file: undefined,
  change: undefined,
  ...given,
});

/** @returns the fenced blocks, without their indentation; `before`: the text since the last block */
function blocksOf(markdown: string): Array<{ line: number; language: string; text: string; before: string }> {
  const blocks = [];
  const fence = /^( *)```(\w+)\n([\s\S]*?)^\1```$/gm;
  let end = 0;
  for (const { index, 0: whole, 1: indent = '', 2: language = '', 3: content = '' } of markdown.matchAll(
    fence,
  )) {
    blocks.push({
      line: markdown.slice(0, index).split('\n').length,
      language,
      text: content.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd(),
      before: markdown.slice(end, index),
    });
    end = index + whole.length;
  }
  return blocks;
}

/** @param text of a block @param start its line */
function commandsOf(text: string, start: number): Step[] {
  const lines = text.split('\n');
  if (!text.includes(PROMPT))
    return [step({ line: start, title: 'Ctrl-C', stop: lines.filter((line) => line.trim()) })];
  const steps: Step[] = [];
  for (const [index, line] of lines.entries()) {
    const command = steps.at(-1)?.command;
    const isOpen = command !== undefined && command.expected.length === 0 && isUnfinished(command.text);
    if (command && isOpen) command.text += `\n${line}`;
    else if (line.startsWith(PROMPT)) {
      const typed = line.slice(PROMPT.length);
      steps.push(step({ line: start + 1 + index, title: typed, command: { text: typed, expected: [] } }));
    } else if (command && line.trim()) command.expected.push(line.trim());
  }
  return steps;
}

/** @returns whether a shell would ask for another line */
const isUnfinished = (command: string): boolean =>
  command.endsWith('\\') ||
  command.split("'").length % 2 === 0 ||
  (command.match(/\bdo$/gm) ?? []).length > (command.match(/^\s*done$/gm) ?? []).length;

/** @param diff without line numbers */
function sidesOf(diff: string): { before: string; after: string } {
  const lines = diff.split('\n');
  const side = (left: string) =>
    lines
      .filter((line) => !line.startsWith(left))
      .map((line) => line.slice(1))
      .join('\n');
  return { before: side('+'), after: side('-') };
}

const HEX_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}-(?:[0-9a-f]{12}|…)/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?/;
const DURATION = /\d+(?:\.\d+)? (?:ms|s)\b/;
/** Text that differs from run to run, and `…` for text that the document leaves out. */
const VARIES = new RegExp(
  `(?<id>${HEX_ID.source})|(?<time>${TIME.source})|(?<duration>${DURATION.source})|…|\\s+`,
  'g',
);
const ID = '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})';

/**
 * Compares output with what a document shows. Line breaks count as space, because documents fold long lines.
 * @returns `ids`: the ids of the output, by the text of the document
 * @throws {Error} with both texts, if they differ
 */
export function compareOutput(output: string, expected: string[]): { ids: Map<string, string> } {
  const text = expected.join(' ');
  const names: string[] = [];
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
    else pattern += match[0] === '…' ? '[\\s\\S]*?' : '\\s*';
  }
  pattern += escaped(text.slice(end));
  const found = new RegExp(pattern).exec(output);
  if (!found) throw new Error(`expected:\n${expected.join('\n')}\n\nbut the output was:\n${output}`);
  return { ids: new Map(names.map((name, index) => [name, String(found[index + 1])])) };
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
