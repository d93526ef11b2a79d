/**
 * Installs what is missing, then runs the suites of `suites.ts` with jest: `npm test` and `npm run test:NAME` (CONTRIBUTING.md lists them).
 * Several suites run as one, so that their waits overlap and they share one database: `node test/run.ts --infra --contract`. Other
 * arguments go to jest. Files in folders `long` run with `--long`, or when they are named. Then random histories are five times as many
 * (`support/runs.ts`). `--seed=N` repeats a run. Each run checks the statements that were sent to the database (`support/query-rules`).
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../common/command.ts';
import { claimDataDir } from '../common/data-dir.ts';
import { createStatusLine } from '../common/status-line.ts';
import { ensurePackages, ensureTools } from '../infra/bootstrap/index.ts';
import { LONG, SUITES, type Suite } from './suites.ts';
import { recordingInto } from './support/query-rules/recording.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Added to the exit code of jest, which is 1 after a failed test. */
const BREAKS_RULES = 2;

/** The environment variable with a folder for the records of several runs, such as a second try of files that failed. */
const SHARED_RECORDS = 'TEST_CQL_SHARED';

/** Jest itself counts no coverage of the processes of `support/unit-runner`. */
const COVERAGE = '--coverage';
const C8 = [
  ...['--all', '--reporter', 'text', '--extension', '.ts'],
  ...['--include', '{api,common,schema,simulator,tools/sizing}/**'],
];

/** Arguments that leave no test out. */
const KEEPS_ALL_TESTS = /^--(ci|json|verbose|long|outputFile=.*|seed=.*)$/;

await runCommand(async () => {
  process.chdir(root);
  const line = createStatusLine(process.stderr);
  const onStatus = line.update;
  await ensurePackages(root, { onStatus });
  const args = process.argv.slice(2);
  if (args.includes('--help')) return await printHelp();
  const { projects, tools, ownArgs } = readSuites(args);
  // The tests keep jars and screenshots there. `npm run dev -- --fresh` only empties a directory that is marked.
  await claimDataDir('.data');
  await ensureTools(tools, { onStatus });
  if (tools.includes('python')) await ensurePythonTools(onStatus);
  await ensureDashboard(onStatus);
  line.clear();
  const jestArgs = ownArgs.filter((arg) => arg !== '--long');
  const isLong = ownArgs.some((arg) => arg === '--long' || LONG.test(arg));
  if (ownArgs.includes('--long')) process.env['TEST_RUNS'] ??= '5';
  const isWhole = projects.includes('integration') && jestArgs.every((arg) => KEEPS_ALL_TESTS.test(arg));
  const shared = process.env[SHARED_RECORDS];
  const records = shared ?? (await mkdtemp(join(tmpdir(), 'millrace-cql-')));
  if (shared && isWhole) await writeFile(wholeMark(shared), '');
  try {
    // A machine can run one cluster at a time. Without workers, timers that the driver (4.10) leaves behind for nodes that it
    // lost would keep jest itself from ending.
    const hasClusters = projects.includes('cluster') || projects.includes('datacenters');
    const clusterFlags = hasClusters ? ['--runInBand', '--forceExit'] : [];
    const ignored = isLong
      ? []
      : ['/node_modules/', LONG.source].map((path) => `--testPathIgnorePatterns=${path}`);
    const flags = [...jestArgs, ...ignored, ...clusterFlags];
    // `--selectProjects` must be the last flag, because it takes every word that follows it.
    const code = await jest(
      [...flags, ...workersFor(projects, flags), '--selectProjects', ...projects],
      recordingInto(records),
    );
    // After a failed test, statements may be missing only because that test ended early. A second try completes them.
    const complete = code === 0 && (isWhole || (shared !== undefined && existsSync(wholeMark(shared))));
    process.exitCode = (await reportQueryRules(records, {
      complete,
      hasDataCenters: projects.includes('datacenters'),
    }))
      ? code
      : code | BREAKS_RULES;
  } finally {
    if (!shared) await rm(records, { recursive: true, force: true });
  }
});

/** The path of a file that exists when one of the runs that share these records ran all tests. */
function wholeMark(records: string): string {
  return `${records}.whole`;
}

/**
 * @param projects of jest.config.js
 * @param flags for jest
 * @returns the flag for the number of workers, where that of jest.config.js does not fit
 */
function workersFor(projects: string[], flags: string[]): string[] {
  // Jest takes only one flag of these.
  if (flags.some((flag) => /^(-i|--runInBand|-w|--maxWorkers(=.*)?)$/.test(flag))) return [];
  // Unit tests start no other processes.
  if (projects.join() === 'unit') return ['--maxWorkers=100%'];
  // Thorough tests mostly wait: for brokers and databases that boot, and for sessions that end. Other suites can work meanwhile.
  return projects.length > 1 && projects.includes('thorough') ? ['--maxWorkers=3'] : [];
}

/** @param args the suites come first @returns `ownArgs`: those that are no suite */
function readSuites(args: string[]): Suite & { ownArgs: string[] } {
  const isSuite = (arg: string) => arg.startsWith('--') && Object.hasOwn(SUITES, arg.slice(2));
  const end = args.findIndex((arg) => !isSuite(arg));
  const names = (end === -1 ? args : args.slice(0, end)).map((arg) => arg.slice(2));
  const suites = (names.length > 0 ? names : ['main']).map((name) => SUITES[name as keyof typeof SUITES]);
  return {
    projects: suites.flatMap(({ projects }) => projects),
    tools: [...new Set(suites.flatMap(({ tools }) => tools))],
    ownArgs: args.slice(names.length),
  };
}

async function printHelp() {
  // Imported here, because it needs the packages.
  const { parseFlags } = await import('../common/flags.ts');
  const name = `npm run ${process.env['npm_lifecycle_event'] ?? 'test'}`;
  parseFlags(
    {
      command: `${name} --`,
      help: 'Installs what is missing, then runs the tests. Words and flags go to jest: npx jest --help lists them.',
      examples: [name, `${name} -- --testNamePattern stops`],
      flags: {},
    },
    ['--help'],
  );
}

/** Before the tests, because several of them would install the same tools at once. */
async function ensurePythonTools(onStatus: (text: string) => void) {
  // Imported here, because it needs the packages.
  const { ensurePython } = await import('../infra/python/ensure.ts');
  await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus });
}

/** API processes and some unit tests serve `dist/web`. */
async function ensureDashboard(onStatus: (text: string) => void) {
  // Imported here, because it needs the packages.
  const { buildDashboard } = await import('../infra/dev/build.ts');
  onStatus('building the dashboard');
  await buildDashboard({ root });
}

/**
 * @param records the folder of the recorded statements
 * @param run see `checkQueryRules`
 * @returns whether every statement follows the rules
 */
async function reportQueryRules(
  records: string,
  run: { complete: boolean; hasDataCenters: boolean },
): Promise<boolean> {
  // Imported here, because it needs the packages.
  const { checkQueryRules } = await import('./support/query-rules/check.ts');
  const { found, problems } = await checkQueryRules(records, run);
  for (const problem of problems) console.error(`CQL: ${problem}`);
  if (found !== null) console.error(`CQL: ${found}; ${problems.length} problems.`);
  return problems.length === 0;
}

function jest(
  args: string[],
  { NODE_OPTIONS: recorder, ...recording }: Record<string, string>,
): Promise<number> {
  // Jest loads ES modules by an interface of Node.js that is still behind a flag. Its workers need it as well.
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const known = flags.filter((flag) => process.allowedNodeEnvironmentFlags.has(String(flag.split('=')[0])));
  const options = [process.env.NODE_OPTIONS, ...known, recorder].filter(Boolean).join(' ');
  const coverage = args.includes(COVERAGE) ? ['node_modules/c8/bin/c8.js', ...C8, process.execPath] : [];
  const jestArgs = args.filter((arg) => arg !== COVERAGE);
  const child = spawn(process.execPath, [...coverage, 'node_modules/jest/bin/jest.js', ...jestArgs], {
    stdio: 'inherit',
    env: { ...process.env, ...recording, NODE_OPTIONS: options },
  });
  // Jest is in the same process group, so a terminal's Ctrl-C reaches it. Signals of npm or a CI reach only this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
