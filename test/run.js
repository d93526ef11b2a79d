/**
 * `npm test`: installs what is missing, then runs jest with the arguments given, e.g. `npm test -- test/unit`.
 * `npm run test:infra`: the same for what deploys the system. `npm run test:cluster`: that nothing is lost, whatever is
 * killed; `-- --seed N` repeats a run.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../common/command.js';
import { createStatusLine } from '../common/status-line.js';
import { checkNode, ensurePackages, ensureTools } from '../infra/bootstrap/index.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {keyof typeof SUITES} Suite */

/** Which of jest's projects a suite runs, and the programs that it needs. */
const SUITES = {
  main: {
    projects: ['unit', 'integration'],
    tools: /** @type {const} */ (['java', 'maven', 'mosquitto', 'mosquittoClients', 'chromium']),
  },
  infra: {
    projects: ['infra'],
    tools: /** @type {const} */ (['mosquitto', 'mosquittoClients', 'shellcheck', 'openssl', 'python']),
  },
  cluster: {
    projects: ['cluster'],
    tools: /** @type {const} */ (['java', 'maven', 'mosquitto', 'mosquittoClients']),
  },
};

await runCommand(async () => {
  process.chdir(root);
  const line = createStatusLine(process.stderr);
  const onStatus = line.update;
  checkNode();
  await ensurePackages(root, { onStatus });
  const args = process.argv.slice(2);
  const asked = args[0]?.replace(/^--/, '') ?? '';
  const isNamed = Object.hasOwn(SUITES, asked);
  const { projects, tools } = SUITES[isNamed ? /** @type {Suite} */ (asked) : 'main'];
  await ensureTools([...tools], { onStatus });
  line.clear();
  // Last, since this flag takes every word that follows it.
  process.exitCode = await jest([...(isNamed ? args.slice(1) : args), '--selectProjects', ...projects]);
});

/** @param {string[]} args @returns {Promise<number>} exit code */
function jest(args) {
  // Jest loads ES modules by an interface of Node's that is still behind a flag; its workers need it as well.
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const known = flags.filter((flag) => process.allowedNodeEnvironmentFlags.has(String(flag.split('=')[0])));
  const options = [process.env.NODE_OPTIONS, ...known].filter(Boolean).join(' ');
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: options },
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
