/**
 * `npm run test:nodes`: runs the unit tests on the oldest and the newest Node.js that Millrace accepts: `engines` of package.json and
 * `.nvmrc`. Exit code 1 when they fail on any.
 *
 * - `npm run test:nodes -- 20.12 22 -- test/unit/common/flags.test.js`: other versions, and arguments for jest.
 * - `npm run test:nodes -- --all`: the whole `npm test`, also on the releases with long-term support between them.
 *
 * Node.js comes from npm packages. They stay in `node_modules/.cache/nodes`, about 100 MB for each version.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommand } from '../../common/command.js';
import { MillraceError } from '../../common/errors.js';
import { createStatusLine } from '../../common/status-line.js';
import { checkNode, ensurePackages } from '../../infra/bootstrap/index.js';
import { npmProgram } from '../../infra/bootstrap/packages.js';
import { runShown } from '../../infra/bootstrap/run-shown.js';
import { chooseVersion, defaultVersions, matches } from './versions.js';

/** @import { CommandLine, Flag } from '../../common/flags.js' */

const root = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(root, 'node_modules/.cache/nodes');

/**
 * The npm package of Node.js for this platform. It needs no install script, unlike the package `node`, which chooses a platform. On
 * Apple silicon its name has one more word.
 */
const PACKAGE = `${process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'}-${process.platform}-${process.arch}`;

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  all: { type: 'switch', help: 'the whole of npm test, on more versions, instead of the unit tests' },
};

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: 'npm run test:nodes --',
  help: 'Runs the unit tests on the oldest and the newest accepted Node.js, or on those named. Words after -- go to jest.',
  examples: ['npm run test:nodes', 'npm run test:nodes -- 20.12 22 -- test/unit/common/flags.test.js'],
  words: { usage: '[VERSION...]', rule: 'versions of Node.js', least: 0, most: 20 },
  flags: FLAGS,
};

const run = promisify(execFile);

await runCommand(async () => {
  process.chdir(root);
  const line = createStatusLine(process.stderr);
  checkNode();
  await ensurePackages(root, { onStatus: line.update });
  // Imported here, because it needs the packages.
  const { parseLine, usageError } = await import('../../common/flags.js');
  const argv = process.argv.slice(2);
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const { words, flags } = parseLine(LINE, argv.slice(0, end));
  const wrong = words.filter((word) => !/^\d+(\.\d+){0,2}$/.test(word));
  if (wrong.length > 0)
    throw usageError(
      LINE.command,
      wrong.map((word) => `"${word}" is not a version such as 24 or 20.12`),
    );
  const engines = String(JSON.parse(await readFile('package.json', 'utf8')).engines.node);
  const newest = await readFile('.nvmrc', 'utf8');
  const wanted = words.length > 0 ? words : defaultVersions({ engines, newest, between: flags.all });
  const testArgs = [...(flags.all ? [] : ['--unit']), ...argv.slice(end + 1)];

  const results = [];
  for (const version of wanted) {
    const node = await findNode(version, { engines, onStatus: line.update });
    line.clear();
    console.error(`Node.js ${node.version}${node.note}`);
    const code = await runTests(node.path, testArgs);
    results.push({ version: node.version, code });
  }
  for (const { version, code } of results)
    console.error(`Node.js ${version}: ${code === 0 ? 'passed' : `FAILED, exit code ${code}`}`);
  process.exitCode = results.some(({ code }) => code !== 0) ? 1 : 0;
});

/**
 * Finds a version of Node.js, and installs it if it is not the running one.
 *
 * @param {string} wanted such as `24` or `20.12`
 * @param {{ engines: string, onStatus: (text: string) => void }} options
 * @returns {Promise<{ version: string, path: string, note: string }>} `note`: why it is another version than wanted
 * @throws {MillraceError} `install_failed`
 */
async function findNode(wanted, { engines, onStatus }) {
  const running = process.versions.node;
  if (matches(wanted, running)) return { version: running, path: process.execPath, note: '' };
  onStatus(`Node.js ${wanted}: versions are listed`);
  const version = chooseVersion(wanted, await listVersions(), engines);
  if (!version)
    throw new MillraceError('install_failed', `The npm registry has no ${PACKAGE} that Millrace accepts.`);
  const note = matches(wanted, version) ? '' : `, because the npm registry has no ${wanted}`;
  return { version, path: await installNode(version, onStatus), note };
}

/** Lists the versions that the npm registry has. @returns {Promise<string[]>} @throws {MillraceError} `install_failed` */
async function listVersions() {
  const [program, first] = npmProgram();
  try {
    const { stdout } = await run(program, [...first, 'view', PACKAGE, 'versions', '--json']);
    return [JSON.parse(stdout)].flat();
  } catch (error) {
    throw installFailed(error);
  }
}

/**
 * Installs a version of Node.js from the npm registry, unless the cache has it.
 *
 * @param {string} version such as `24.1.0`
 * @param {(text: string) => void} onStatus
 * @returns {Promise<string>} path of the program
 * @throws {MillraceError} `install_failed`
 */
async function installNode(version, onStatus) {
  const folder = join(CACHE, version);
  const path = join(folder, 'node_modules', PACKAGE, 'bin/node');
  if ((await versionOf(path)) === version) return path;
  await mkdir(folder, { recursive: true });
  // Without this file npm would install into the project.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const [program, first] = npmProgram();
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  try {
    await runShown(program, [...first, ...args, `${PACKAGE}@${version}`], {
      title: `Node.js ${version}`,
      onStatus,
      cwd: folder,
    });
  } catch (error) {
    throw installFailed(error);
  }
  if ((await versionOf(path)) !== version)
    throw new MillraceError('install_failed', `${path} is not Node.js ${version}: delete ${folder}.`);
  return path;
}

/** @param {string} path of a Node.js program @returns {Promise<string | null>} its version; null: it is missing or does not run */
async function versionOf(path) {
  try {
    const { stdout } = await run(path, ['--version']);
    return stdout.trim().slice(1);
  } catch {
    return null;
  }
}

/** @param {unknown} cause */
function installFailed(cause) {
  return new MillraceError(
    'install_failed',
    `Node.js could not be installed from the npm registry.\n${/** @type {Error} */ (cause).message}`,
    { cause },
  );
}

/**
 * Runs `test/run.js` with a given program of Node.js, and forwards signals to the run.
 *
 * @param {string} node path of the program
 * @param {string[]} args of `test/run.js`
 * @returns {Promise<number>} exit code of the run
 * @throws {MillraceError} `usage`: a signal stopped the run
 */
function runTests(node, args) {
  // Tests start `node` and `npm` by name. So the folder of this Node.js is the first in PATH.
  const path = [dirname(node), process.env['PATH']].join(delimiter);
  const child = spawn(node, ['test/run.js', ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  let stoppedBy = '';
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    stoppedBy = signal;
    // A terminal sends Ctrl-C to the tests as well.
    if (signal !== 'SIGINT') child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of SIGNALS) process.off(signal, forward);
      if (stoppedBy) reject(new MillraceError('usage', `Stopped by ${stoppedBy}.`));
      else resolve(code ?? 1);
    });
  });
}
