/**
 * `npm test`: installs what is missing, then runs jest with the arguments given, e.g. `npm test -- test/unit`.
 * `npm run test:unit`: the unit tests alone.
 * `npm run test:thorough`: what takes minutes, such as databases that hang and history as a whole.
 * `npm run test:browser`: the dashboard, view by view; its screenshots stay under `.data/screenshots/`.
 * `npm run test:infra`: the same for what deploys the system. `npm run test:contract`: whether the interfaces are what
 * their documents say, whoever tries. `npm run test:cluster`: that nothing is lost, whatever is killed; `-- --seed N`
 * repeats a run. In each run, what the processes sent to their databases is written down and held against the rules of
 * `support/habits`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../common/command.js';
import { createStatusLine } from '../common/status-line.js';
import { checkNode, ensurePackages, ensureTools } from '../infra/bootstrap/index.js';
import { recordingInto } from './support/query-rules/recording.js';

/** @import { MillraceError } from '../common/errors.js' */

const root = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {keyof typeof SUITES} Suite */

/** Which of jest's projects a suite runs, and the programs that it needs. */
const SUITES = {
  main: {
    projects: ['unit', 'integration'],
    tools: /** @type {const} */ (['java', 'maven', 'mosquitto', 'mosquittoClients', 'chromium', 'openssl']),
  },
  unit: {
    projects: ['unit'],
    tools: /** @type {const} */ (['openssl']),
  },
  infra: {
    projects: ['infra'],
    tools: /** @type {const} */ ([
      'java',
      'maven',
      'mosquitto',
      'mosquittoClients',
      'shellcheck',
      'openssl',
      'curl',
      'python',
      'prometheus',
      'alertmanager',
      'kubectl',
      'terraform',
    ]),
  },
  browser: {
    projects: ['browser'],
    tools: /** @type {const} */ (['java', 'maven', 'chromium']),
  },
  contract: {
    projects: ['contract'],
    tools: /** @type {const} */ (['java', 'maven', 'python']),
  },
  thorough: {
    projects: ['thorough'],
    tools: /** @type {const} */ (['java', 'maven', 'mosquitto', 'mosquittoClients', 'openssl']),
  },
  cluster: {
    projects: ['cluster'],
    tools: /** @type {const} */ (['java', 'maven', 'mosquitto', 'mosquittoClients']),
  },
};

/** Arguments that leave no test out. */
const SELECTS_NOTHING = /^--(ci|json|verbose|outputFile=.*|seed=.*)$/;

await runCommand(async () => {
  process.chdir(root);
  const line = createStatusLine(process.stderr);
  const onStatus = line.update;
  checkNode();
  await ensurePackages(root, { onStatus });
  const args = process.argv.slice(2);
  if (args.includes('--help')) return await printHelp(args);
  const asked = args[0]?.replace(/^--/, '') ?? '';
  const isNamed = Object.hasOwn(SUITES, asked);
  const { projects, tools } = SUITES[isNamed ? /** @type {Suite} */ (asked) : 'main'];
  await ensureTools([...tools], { onStatus });
  if (tools.some((tool) => tool === 'python')) await ensurePythonTools(onStatus);
  line.clear();
  const own = isNamed ? args.slice(1) : args;
  const records = await mkdtemp(join(tmpdir(), 'millrace-cql-'));
  try {
    // Three nodes at a time are what a machine takes. Without workers, which jest ends, timers that the driver (4.10) forgets
    // of nodes that it lost would keep jest itself from ending.
    const alone = projects.includes('cluster') ? ['--runInBand', '--forceExit'] : [];
    // Unit tests start no process trees, so every processor may run some.
    const workers = projects.join() === 'unit' ? ['--maxWorkers=100%'] : [];
    // Last, since this flag takes every word that follows it.
    const code = await jest(
      [...own, ...alone, ...workers, '--selectProjects', ...projects],
      recordingInto(records),
    );
    const complete = projects.includes('integration') && own.every((arg) => SELECTS_NOTHING.test(arg));
    process.exitCode = (await reportHabits(records, complete)) ? code : code || 1;
  } finally {
    await rm(records, { recursive: true, force: true });
  }
});

/** @param {string[]} args @throws {MillraceError} `help` */
async function printHelp([suite = '']) {
  // Only now: it needs the packages.
  const { parseFlags } = await import('../common/flags.js');
  const name = Object.hasOwn(SUITES, suite.slice(2)) ? `npm run test:${suite.slice(2)}` : 'npm test';
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

/**
 * Once, before the tests: several that began with it would each make an environment of their own.
 *
 * @param {(text: string) => void} onStatus
 */
async function ensurePythonTools(onStatus) {
  // Only now: it needs the packages.
  const { ensurePython } = await import('../infra/python/ensure.js');
  await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus });
}

/**
 * @param {string} records
 * @param {boolean} complete whether all tests ran
 * @returns {Promise<boolean>} whether the rules were kept
 */
async function reportHabits(records, complete) {
  // Only now: it needs the packages.
  const { checkQueryRules } = await import('./support/query-rules/check.js');
  const { found, problems } = await checkQueryRules(records, { complete });
  for (const problem of problems) console.error(`CQL: ${problem}`);
  console.error(`CQL: ${found}; ${problems.length} problems.`);
  return problems.length === 0;
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} recording
 * @returns {Promise<number>} exit code
 */
function jest(args, { NODE_OPTIONS: recorder, ...recording }) {
  // Jest loads ES modules by an interface of Node's that is still behind a flag; its workers need it as well.
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const known = flags.filter((flag) => process.allowedNodeEnvironmentFlags.has(String(flag.split('=')[0])));
  const options = [process.env.NODE_OPTIONS, ...known, recorder].filter(Boolean).join(' ');
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...recording, NODE_OPTIONS: options },
  });
  // Jest is in our process group: a terminal's Ctrl-C reaches it without us. What npm or a CI sends reaches only us.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
