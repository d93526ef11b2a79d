/**
 * Checks the sentences and names of README and documents, and finds merge conflicts in all files: `node .ci/prose.ts`. cspell checks the
 * words, remark the links.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Nodes } from 'mdast';
import { toString as plainText } from 'mdast-util-to-string';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import type { Node } from 'unist';
import { SKIP, visit } from 'unist-util-visit';

/** Limits in words: of every sentence, of 90 % of all sentences (`usual`), of a table cell. A document beyond a limit fails the check. */
const LIMITS = { sentence: 35, usual: 28, cell: 25 };
const USUAL_PART = 0.9;

/** A setting, a metric or an error code: some source file must contain this name. */
const NAME = /^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)$/;
/** In code blocks with commands, only these names are checked, because commands also contain names of other programs. */
const OUR_NAME = /^(?:iot_\w+|(?:MQTT|HTTP|CQL|BATCH|LATEST|HISTORY|LOG|READ|WRITE|TRUST)_[A-Z_]+)$/;
const COMMANDS = new Set(['sh', 'console', 'ini', 'yaml']);
/** Names of Cassandra, Scylla Manager, DuckDB, pandas and Telegraf. */
const OTHER_NAMES = new Set([
  'BEARER_TOKEN',
  'max_hint_window',
  'scyllamgr_setup',
  'manager_password',
  'read_json',
  'skip_database_creation',
  'storage_options',
  'read_csv',
  'superuser_password',
]);
/** Prometheus adds one of these suffixes to the name of a histogram. */
const SUFFIX = /_(?:bucket|sum|count)$/;
const SCRIPT = /\bnpm run (?:-s )?([\w:-]+)/g;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const parser = unified().use(remarkParse).use(remarkGfm);
const list = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '-z', '--', ...patterns], { encoding: 'utf8' })
    .split('\0')
    .filter(Boolean);

const documents = list('*.md').filter((path) => path !== 'CHANGELOG.md');
const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);
const known = new Set(
  list(
    '*.js',
    '*.ts',
    '*.json',
    '*.yaml',
    '*.yml',
    '*.sh',
    '*.tf',
    '*.cql',
    '*.conf',
    '*.hcl',
    '*.env',
    '*.toml',
    '*.py',
    '*.service',
    'Dockerfile',
    '.env.example',
  )
    .filter((path) => !/package-lock|vectors/.test(path))
    .flatMap((path) => readFileSync(path, 'utf8').match(/\w+/g) ?? []),
);

const problems: string[] = [];
let total = 0;
let usual = 0;
for (const path of documents) checkDocument(path);
const conflicts = spawnSync('git', ['grep', '-nE', '^(<{7}|>{7}) '], { encoding: 'utf8' }).stdout;
for (const line of conflicts.split('\n').filter(Boolean))
  problems.push(`${line}: a merge conflict; resolve it`);

const part = usual / total;
if (part < USUAL_PART)
  problems.push(
    `${(100 * part).toFixed(1)} % of all sentences have ${LIMITS.usual} words or fewer; ${100 * USUAL_PART} % must`,
  );
for (const problem of problems) console.error(problem);
console.log(
  `prose: ${documents.length} documents, ${total} sentences, ${(100 * part).toFixed(1)} % of at most ${LIMITS.usual} words, ${problems.length} problems`,
);
if (problems.length > 0) process.exitCode = 1;

function checkDocument(path: string) {
  const report = (node: Node, text: string) => problems.push(`${path}:${node.position?.start.line}: ${text}`);
  visit(parser.parse(readFileSync(path, 'utf8')), (node) => {
    if (node.type === 'tableCell') {
      const { length } = wordsOf(textOf(node));
      if (length > LIMITS.cell) report(node, `a cell of ${length} words; at most ${LIMITS.cell}`);
    }
    if (node.type === 'paragraph') {
      for (const { segment } of sentences.segment(textOf(node))) {
        const { length } = wordsOf(segment);
        if (length === 0) continue;
        total++;
        if (length <= LIMITS.usual) usual++;
        if (length > LIMITS.sentence)
          report(
            node,
            `a sentence of ${length} words; at most ${LIMITS.sentence}: "${segment.trim().slice(0, 60)}…"`,
          );
      }
    }
    if (node.type === 'inlineCode') checkNames(node.value, NAME, (text) => report(node, text));
    if (node.type === 'code' && COMMANDS.has(node.lang ?? ''))
      checkNames(node.value, OUR_NAME, (text) => report(node, text));
    return node.type === 'code' ? SKIP : undefined;
  });
}

function checkNames(code: string, pattern: RegExp, report: (text: string) => void) {
  for (const [, script = ''] of code.matchAll(SCRIPT))
    if (!scripts.includes(script)) report(`"npm run ${script}" is not in package.json`);
  for (const word of code.match(/\w+/g) ?? [])
    if (
      pattern.test(word) &&
      !OTHER_NAMES.has(word) &&
      !known.has(word) &&
      !known.has(word.replace(SUFFIX, ''))
    )
      report(`"${word}" is in no source file`);
}

/** Inline code becomes one word that may begin a sentence. */
function textOf(node: Nodes): string {
  if (node.type === 'inlineCode') return 'Code';
  if (node.type === 'html') return '';
  if ('children' in node) return node.children.map(textOf).join('');
  return plainText(node).replaceAll(/\s+/g, ' ');
}

function wordsOf(text: string) {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.,/-]*/gu) ?? [];
}
