/**
 * The result of one mutant.
 *
 * @typedef {object} Entry
 * @property {string} module
 * @property {Mutant} mutant
 * @property {'unit' | 'integration' | 'survived' | 'unreached' | 'equivalent' | 'untried'} result `unit` and `integration`: the tests
 *   that noticed it; `unreached`: no unit test executes it, and no other test noticed it
 * @property {string} [reason] why an equivalent cannot be noticed
 */

/** @import { Mutant } from './mutants.js' */

const COLUMNS = /** @type {const} */ ([
  'unit',
  'integration',
  'survived',
  'unreached',
  'equivalent',
  'untried',
]);

/**
 * Writes the text of `test/mutation/results.md`.
 *
 * @param {Entry[]} entries
 * @param {{ date: string, commit: string, command: string, isSample: boolean }} run
 * @returns {string}
 */
export function mutationPage(entries, { date, commit, command, isSample }) {
  const modules = [...new Set(entries.map(({ module }) => module))];
  const rows = modules.map((name) =>
    rowOf(
      name,
      entries.filter((entry) => entry.module === name),
    ),
  );
  const head = [
    'module',
    'mutants',
    'killed by unit tests',
    'killed by integration tests',
    'survived',
    'no unit test executes it',
    'equivalent',
    'not tried',
    'killed',
  ];
  return `# Mutation tests

A mutant is the program with one deliberate mistake. A test kills a mutant when it fails because of the mistake. A mutant that survives
shows what the tests do not check. \`npm run test:mutation\` writes this page.

Measured on ${date}, commit ${commit}. Repeat it with \`${command}\`.
${isSample ? sampleNote(entries) : ''}
- Each mutant runs the unit tests that execute it. With \`--integration\`, survivors also run the integration tests of their module.
- An equivalent mutant does the same as the program. No test can kill it. \`test/mutation/equivalents.js\` has each, with the reason.
- The last column is the share of killed mutants among those that were tried, without equivalents.
- The modules and their tests are in \`test/mutation/\`.

${table(head, [...rows, rowOf('**all**', entries)])}
${survivors(entries)}${unreachedTable(entries)}`;
}

/** @param {Entry[]} entries @returns {string} */
function sampleNote(entries) {
  const tried = entries.filter(isTried).length;
  return `
This is a random sample: ${tried} of ${entries.length} mutants. A sample of that size is wrong by more than ${marginOf(entries)} percentage points in
one case of twenty.
`;
}

/** @param {Entry[]} entries @returns {string} half of the 95 % interval of the share of killed mutants (normal approximation) */
function marginOf(entries) {
  const tried = entries.filter(isTried);
  const share = tried.filter(isKilled).length / tried.length;
  const rest = (entries.length - tried.length) / (entries.length - 1);
  return (196 * Math.sqrt((share * (1 - share) * rest) / tried.length)).toFixed(1);
}

/** @param {Entry} entry */
const isTried = ({ result }) => result !== 'equivalent' && result !== 'untried';

/** @param {Entry} entry */
const isKilled = ({ result }) => result === 'unit' || result === 'integration';

/** @param {string} name @param {Entry[]} entries @returns {(string | number)[]} */
function rowOf(name, entries) {
  const count = (/** @type {string} */ wanted) => entries.filter(({ result }) => result === wanted).length;
  return [name, entries.length, ...COLUMNS.map(count), killedShare(entries)];
}

/** @param {Entry[]} entries @returns {string} in percent */
export function killedShare(entries) {
  const tried = entries.filter(isTried);
  const killed = tried.filter(isKilled);
  return tried.length === 0 ? '-' : `${((100 * killed.length) / tried.length).toFixed(1)} %`;
}

/** @param {string[]} head @param {(string | number)[][]} rows */
function table(head, rows) {
  const line = (/** @type {(string | number)[]} */ cells) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')}\n`;
}

/** @param {Entry[]} entries @returns {string} */
function survivors(entries) {
  const files = [...grouped(entries.filter(({ result }) => result === 'survived'))];
  const lists = files.map(([file, found]) => `\n### ${file}\n\n${found.map(item).join('\n')}\n`);
  return lists.length === 0 ? '' : `\n## Survivors\n${lists.join('')}`;
}

/** Only counts, because a test of the whole file is missing. @param {Entry[]} entries */
function unreachedTable(entries) {
  const rows = [...grouped(entries.filter(({ result }) => result === 'unreached'))];
  if (rows.length === 0) return '';
  const counts = rows.map(([file, found]) => [file, found.length]);
  return `\n## Survivors that no unit test executes\n\n${table(['file', 'mutants'], counts)}`;
}

/** The page has no line numbers, because lines move. @param {Entry} entry */
const item = ({ mutant }) => `- ${code(mutant.before)} → ${code(mutant.after)}`;

/** @param {string} text */
function code(text) {
  const fence = text.includes('`') ? '``' : '`';
  const space = fence.length > 1 ? ' ' : '';
  return `${fence}${space}${text}${space}${fence}`;
}

/** @param {Entry[]} entries */
function grouped(entries) {
  /** @type {Map<string, Entry[]>} */
  const files = new Map();
  for (const entry of entries) files.set(entry.mutant.file, [...(files.get(entry.mutant.file) ?? []), entry]);
  return files;
}
