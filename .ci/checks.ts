/**
 * Runs all checks and ends with a summary that explains a failure by itself.
 *
 *     node .ci/checks.ts gate            what has to pass before a change lands, with fixed seeds
 *     node .ci/checks.ts all [--seed=N]  everything, with a drawn seed: before a release, and each night
 *
 * The output of each step and the results of jest stay in the folder `CI_ARTIFACTS` (default: a new temporary folder).
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { testedVersions } from '../test/nodes/versions.ts';
import { type Report, type Result, type Results, summaryOf } from './summary.ts';

/** All commits use the same seed, so a failure comes from the commit. */
const FIXED_SEED = 1;

/** With more failed files, none runs a second time: so many failures are not flaky tests. */
const MAX_SECOND_TRIES = 4;

/** `BREAKS_RULES` of test/run.ts: a CQL statement of the tests breaks a query rule. */
const BREAKS_RULES = 2;

/** `isSuite`: jest reports the result of each file, so a failed file can run again. */
type Step = { command: string[]; isSuite: boolean };

const step = (...command: string[]): Step => ({ command, isSuite: false });

const suite = (script: string, ...args: string[]): Step => ({
  command: ['npm', 'run', '--silent', script, '--', ...args],
  isSuite: true,
});

/** This test file once failed with this seed. */
type KnownSeed = { suite: string; file: string; seed: number };

/** What no process of an installation runs, so that another Node.js matters less. The plan `all` runs it on each. */
const NOT_INSTALLED = 'test/unit/(ci|documents|tools|web)/';

const unitOn = (version: string): Step =>
  suite('test:nodes', version, '--', `--seed=${FIXED_SEED}`, `--testPathIgnorePatterns=${NOT_INSTALLED}`);

/**
 * One run for all suites except `npm test` and `cluster`. The longest files of each suite mostly wait. In separate runs they would leave a
 * processor idle at the end of each run.
 */
const otherSuites = (...flags: string[]): Step => ({
  command: ['node', 'test/run.ts', '--thorough', '--browser', '--infra', '--contract', ...flags],
  isSuite: true,
});

/** The steps of a group run at the same time: one of them leaves a processor idle for most of its time. */
type Group = Step[];

const gate = (seeds: KnownSeed[]): Group[] => [
  [step('node', '.ci/prefetch.ts')],
  [step('npm', 'run', '--silent', 'lint'), step('node', '.ci/supply-chain.ts')],
  [suite('test', `--seed=${FIXED_SEED}`)],
  [otherSuites(`--seed=${FIXED_SEED}`)],
  ...seeds.map(({ suite: script, file, seed }) => [suite(script, file, `--seed=${seed}`)]),
  // `npm test` runs on this one.
  ...testedVersions()
    .filter((version) => version !== process.versions.node)
    .map((version) => [unitOn(version)]),
  [
    step('npm', 'run', '--silent', 'test:unplug', '--', '--together', '--brief'),
    step('npm', 'run', '--silent', 'test:mutation'),
  ],
];

const everything = (seed: number): Group[] =>
  [
    step('node', '.ci/prefetch.ts'),
    step('npm', 'run', '--silent', 'lint'),
    suite('test', '--long', `--seed=${seed}`),
    otherSuites('--long', `--seed=${seed}`),
    suite('test:cluster', '--long', `--seed=${seed}`),
    suite('test:datacenters', '--long', `--seed=${seed}`),
    step('npm', 'run', '--silent', 'test:nodes', '--', '--all'),
    step('npm', 'run', '--silent', 'test:unplug'),
    step('npm', 'run', '--silent', 'test:unplug', '--', '--together'),
    step('npm', 'run', '--silent', 'test:mutation'),
    step('node', '.ci/supply-chain.ts', '--strict'),
  ].map((each) => [each]);

const HELP = `Usage: npm run test:all -- [--seed=N]

Runs every check, also test files in folders named long, and ends with a summary. Takes about an hour on two cores.

  --seed=N  repeats a run with the seed that it printed (default: a new one)
  --help    prints this

Examples:
  npm run test:all
  npm run test:all -- --seed=1184
`;

async function main([plan, ...options]: string[]): Promise<number> {
  if (options.includes('--help')) {
    process.stdout.write(HELP);
    return 0;
  }
  const drawn = options.map((option) => /^--seed=(\d+)$/.exec(option)?.[1]).find(Boolean);
  if ((plan !== 'gate' && plan !== 'all') || (options.length > 0 && !drawn)) {
    console.error(HELP);
    return 2;
  }
  const isGate = plan === 'gate';
  const seed = isGate ? FIXED_SEED : Number(drawn ?? Math.floor(Math.random() * 2 ** 31));
  const folder = process.env['CI_ARTIFACTS'] ?? (await mkdtemp(join(tmpdir(), 'millrace-checks-')));
  await mkdir(folder, { recursive: true });
  console.log(`Seed ${seed}. Output and results: ${folder}`);
  const reports: Report[] = [];
  const groups = isGate ? gate(await readList<KnownSeed>('seeds.json')) : everything(seed);
  for (const group of groups) {
    const number = reports.length + 1;
    reports.push(...(await Promise.all(group.map((each, at) => run(each, { folder, number: number + at })))));
    // The first step fetches the packages. Without them no suite runs, and each suite would try to fetch them again.
    if (reports.length === 1 && reports[0]?.code !== 0) break;
  }
  const { text, isGreen } = summaryOf(reports, {
    seed,
    known: await readList<{ file: string }>('flaky.json'),
  });
  console.log(`\n${text}`);
  return isGreen ? 0 : 1;
}

/** People edit these files. */
const readList = async <T>(name: string): Promise<T[]> =>
  JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));

/** Test files that fail run a second time, without the other files. A file that passes the second time is reported as flaky. */
async function run(
  { command, isSuite }: Step,
  { folder, number }: { folder: string; number: number },
): Promise<Report> {
  const title = command.filter((word) => !['npm', 'run', '--silent', '--'].includes(word)).join(' ');
  const path = join(folder, `${number}-${title.replaceAll(/[^\w.=-]+/g, '-')}`);
  console.log(`\n== ${title}`);
  const before = await machineState();
  const began = performance.now();
  const records = `${path}-cql`;
  if (isSuite) await mkdir(records, { recursive: true });
  const first = await attempt(command, { isSuite, path, records });
  const report: Report = { title, ...first, isSuite, seconds: 0, load: '', secondTry: null };
  const files = failedFiles(first.results);
  if (isSuite && first.code === 1 && files.length > 0 && files.length <= MAX_SECOND_TRIES) {
    console.log(`\n== ${title}: a second try of ${files.join(', ')}`);
    const again = [...command.filter((word) => !/\.test\.[jt]s$/.test(word)), '--runInBand', ...files];
    report.secondTry = await attempt(again, { isSuite, path: `${path}-again`, records });
  }
  report.seconds = (performance.now() - began) / 1000;
  report.load = loadBetween(before, await machineState());
  return report;
}

/**
 * The output goes to the terminal and to a file. The tries of a suite share the records of CQL statements, so statements that no test sends are
 * found also after a second try.
 */
async function attempt(
  command: string[],
  { isSuite, path, records }: { isSuite: boolean; path: string; records: string },
): Promise<Result> {
  const results = `${path}.json`;
  const [program = '', ...args] = isSuite
    ? [...command, '--ci', '--json', `--outputFile=${results}`]
    : command;
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: 'true', ...(isSuite ? { TEST_CQL_SHARED: records } : {}) },
  });
  const log = createWriteStream(`${path}.log`);
  let output = '';
  const keep = (from: Readable, to: NodeJS.WriteStream) =>
    from.setEncoding('utf8').on('data', (text) => {
      to.write(text);
      log.write(text);
      output = (output + text).slice(-100_000);
    });
  keep(child.stdout, process.stdout);
  keep(child.stderr, process.stderr);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.once('close', (exit, signal) => resolve(exit ?? (signal ? 128 : 1)));
  });
  log.end();
  return {
    code,
    breaksRules: isSuite && (code & BREAKS_RULES) !== 0,
    output,
    results: isSuite ? await readResults(results) : null,
  };
}

/** @returns null: the suite did not start */
async function readResults(path: string): Promise<Results | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

const failedFiles = (results: Results | null): string[] =>
  (results?.testResults ?? []).flatMap(({ name, status }) => (status === 'failed' ? relative('', name) : []));

/** `ticks`: of all processors by kind, see proc(5) */
type MachineState = { loadAverage: string; ticks: number[] };

/** Load and CPU ticks are empty if the system has no /proc. */
async function machineState(): Promise<MachineState> {
  const [load, stat] = await Promise.all(
    ['/proc/loadavg', '/proc/stat'].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  const ticks =
    /^cpu +(.*)$/m
      .exec(stat ?? '')?.[1]
      ?.split(' ')
      .map(Number) ?? [];
  return { loadAverage: load?.split(' ')[0] ?? '', ticks };
}

/** Index of the stolen time in a line of /proc/stat: the time in which the hypervisor ran other machines. */
const STEAL = 7;

/** Such as `load 0.5 to 3.1, steal 2 %`. */
function loadBetween(before: MachineState, after: MachineState): string {
  const spent = after.ticks.map((ticks, index) => ticks - (before.ticks[index] ?? 0));
  const all = spent.slice(0, STEAL + 1).reduce((sum, ticks) => sum + ticks, 0);
  const steal = all > 0 ? Math.round((100 * (spent[STEAL] ?? 0)) / all) : 0;
  return `load ${before.loadAverage} to ${after.loadAverage}, steal ${steal} %`;
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
process.exitCode = await main(process.argv.slice(2));
