import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { MillraceError } from '../../common/errors.js';
import { parseFlags } from '../../common/flags.js';
import { measureTests } from './baseline.js';
import { findUnnoticed } from './ci.js';
import { matchEquivalents } from './equivalents.js';
import { FINDINGS } from './findings.js';
import { tryIntegrationTests } from './integration.js';
import { MODULES } from './modules.js';
import { MUST_DIE } from './must-die.js';
import { mutantsOf } from './mutants.js';
import { Pool } from './pool.js';
import { killedShare, mutationPage } from './report.js';
import { Results } from './results.js';
import { sampleOf } from './sample.js';
import { filesIn, readImportGraph } from './test-files.js';
import { tryUnitTests } from './unit.js';

/** @import { CommandLine, Flag } from '../../common/flags.js' */
/** @import { StatusLine } from '../../common/status-line.js' */
/** @import { Entry } from './report.js' */

const DATA = '.data/mutation';
const PAGE = 'test/mutation/results.md';

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  only: { type: 'text', help: 'a file or folder: only its mutants' },
  sample: { type: 'integer', help: 'how many mutants, drawn at random', min: 1 },
  seed: { type: 'integer', help: 'of the sample', fallback: 1 },
  integration: { type: 'switch', help: 'survivors also run the integration tests of their module' },
  ci: { type: 'switch', help: 'the known mistakes of must-die.js alone' },
  findings: { type: 'switch', help: 'the mistakes of findings.js alone' },
  workers: {
    type: 'integer',
    help: 'mutants at a time',
    min: 1,
    fallback: Math.min(4, availableParallelism()),
  },
};

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: 'npm run test:mutation --',
  help: 'Puts one mistake at a time into a copy of the sources and finds those that no test notices.',
  examples: ['npm run test:mutation -- --only api/history --workers 2', 'npm run test:mutation -- --ci'],
  flags: FLAGS,
};

/**
 * @param {string[]} argv
 * @param {StatusLine} line
 */
export async function mutationCommand(argv, line) {
  const flags = parseFlags(LINE, argv);
  const stop = new AbortController();
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.once(signal, () =>
      stop.abort(new MillraceError('usage', `Stopped by ${signal}. The next run goes on here.`)),
    );
  const pool = await Pool.create(flags.workers);
  try {
    const run = flags.ci || flags.findings ? tryKnown : tryAll;
    await run({ flags, pool, line, signal: stop.signal });
  } finally {
    line.clear();
    await pool.remove();
  }
}

/**
 * @typedef {object} Run
 * @property {{ [K in keyof typeof FLAGS]: any }} flags
 * @property {Pool} pool
 * @property {StatusLine} line
 * @property {AbortSignal} signal
 */

/** @param {Run} run */
async function tryKnown({ flags, pool, line, signal }) {
  const known = flags.ci ? MUST_DIE : FINDINGS;
  const graph = readImportGraph();
  const problems = await findUnnoticed(known, { pool, graph, onStatus: line.update, signal });
  for (const problem of problems) line.print(problem);
  line.print(`Mutation: ${known.length} known mistakes, ${problems.length} problems.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

/** @param {Run} run */
async function tryAll({ flags, pool, line, signal }) {
  const entries = entriesOf();
  const { reasonOf, stale } = matchEquivalents(entries.map(({ mutant }) => mutant));
  for (const entry of entries) {
    entry.reason = reasonOf(entry.mutant);
    if (entry.reason) entry.result = 'equivalent';
  }
  const wanted = entries.filter(({ mutant }) => isWithin(mutant.file, flags.only));
  if (wanted.length === 0) throw new MillraceError('usage', `There are no mutants of ${flags.only}.`);
  const drawn = flags.sample ? sampleOf(wanted, flags.sample, flags.seed) : wanted;
  const chosen = drawn.filter(({ result }) => result !== 'equivalent');

  const graph = readImportGraph();
  const results = new Results(`${DATA}/results.jsonl`);
  const filesOf = (/** @type {Entry[]} */ some) => [...new Set(some.map(({ mutant }) => mutant.file))];
  const tests = await measureTests({
    cache: `${DATA}/tests.json`,
    sources: filesOf(entries),
    wanted: filesOf(chosen),
    graph,
    pool,
    onStatus: line.update,
    signal,
  });
  const byMutant = new Map(chosen.map((entry) => [entry.mutant, entry]));
  const show = progress(chosen.length, line);
  const shared = { graph, results, signal };
  await tryUnitTests([...byMutant.keys()], {
    ...shared,
    tests,
    pool,
    onVerdict(mutant, { killed, reached }) {
      const entry = /** @type {Entry} */ (byMutant.get(mutant));
      entry.result = killed ? 'unit' : reached ? 'survived' : 'unreached';
      show(entry);
    },
  });
  await tryIntegrationTests(chosen.filter(isSurvivor), { ...shared, line, run: flags.integration });

  printSurvivors(chosen.filter(isSurvivor), line);
  for (const { file, before } of stale)
    line.print(`equivalents.js: no mutant of ${file} is \`${before}\` any more.`);
  line.print(`Mutation: ${chosen.length} mutants, ${killedShare(chosen)} killed.`);
  writePage(entries, { results, flags });
  process.exitCode = stale.length > 0 ? 1 : 0;
}

/** @returns {Entry[]} every mutant of every module */
function entriesOf() {
  return MODULES.flatMap(({ name, sources }) =>
    sources
      .flatMap(filesIn)
      .flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')))
      .map((mutant) => /** @type {Entry} */ ({ module: name, mutant, result: 'untried' })),
  );
}

/** @param {string} file @param {string | undefined} only */
const isWithin = (file, only) => !only || file === only || file.startsWith(`${only.replace(/\/$/, '')}/`);

/** @param {Entry} entry */
const isSurvivor = ({ result }) => result === 'survived' || result === 'unreached';

/** @param {number} count @param {StatusLine} line @returns {(entry: Entry) => void} */
function progress(count, line) {
  const began = performance.now();
  const seen = { tried: 0, survived: 0 };
  return (entry) => {
    seen.tried++;
    if (isSurvivor(entry)) seen.survived++;
    const minutes = ((performance.now() - began) / seen.tried) * (count - seen.tried) * (1 / 60_000);
    const { file, line: lineNumber } = entry.mutant;
    line.update(
      `Mutation: ${seen.tried} of ${count}, ${seen.survived} survived, ${minutes.toFixed(0)} min left: ${file}:${lineNumber}`,
    );
  };
}

/** @param {Entry[]} entries @param {StatusLine} line */
function printSurvivors(entries, line) {
  for (const { mutant, module, result } of entries) {
    const { file, line: lineNumber, before, after } = mutant;
    line.print(
      `${module}: ${file}:${lineNumber}${result === 'unreached' ? ' (no unit test)' : ''}: ${before} -> ${after}`,
    );
  }
}

/**
 * Writes the page. After a run over some files it also has the results of earlier runs for the others. After a random sample it has
 * only that sample, because earlier runs did not draw their mutants at random.
 *
 * @param {Entry[]} entries
 * @param {{ results: Results, flags: Run['flags'] }} options
 */
function writePage(entries, { results, flags }) {
  if (!flags.sample)
    for (const entry of entries) if (entry.result === 'untried') entry.result = earlierResult(entry, results);
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const wanted = [
    ...(flags.sample ? [`--sample ${flags.sample} --seed ${flags.seed}`] : []),
    ...(flags.integration ? ['--integration'] : []),
  ];
  const command = ['npm run test:mutation', ...(wanted.length > 0 ? ['--', ...wanted] : [])].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(PAGE, mutationPage(entries, { date, commit, command, isSample: flags.sample !== undefined }));
}

/** @param {Entry} entry @param {Results} results @returns {Entry['result']} */
function earlierResult({ mutant }, results) {
  const source = readFileSync(mutant.file, 'utf8');
  const unit = results.get(Results.keyOf(source, mutant, 'unit'));
  if (!unit) return 'untried';
  if (unit.killed) return 'unit';
  if (results.get(Results.keyOf(source, mutant, 'integration'))?.killed) return 'integration';
  return unit.reached ? 'survived' : 'unreached';
}
