/**
 * The first stage of every command: `node --import ./infra/first-stage.js SCRIPT`. Node.js runs TypeScript from 22.18 on. If this process
 * is older, it installs the pinned version from npm, and runs the same command with it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

export const PINNED = '24.21.0';
// Not in node_modules: `npm ci` empties that folder while this Node.js runs.
const FOLDER = fileURLToPath(new URL('../.node', import.meta.url));
const PLATFORM = `${process.platform}-${process.arch}`;
// This package needs no install script, unlike the package `node`.
const PACKAGE = PLATFORM === 'darwin-arm64' ? `node-bin-${PLATFORM}` : `node-${PLATFORM}`;

/** Installs a version such as `22.18.0`, unless it is there. @param {string} version @returns {string} path of the program */
export function installNode(version) {
  const program = join(FOLDER, version, 'node_modules', PACKAGE, 'bin/node');
  if (existsSync(program)) return program;
  console.error(`Node.js ${version} is installed into .node, because this is ${process.versions.node}.`);
  mkdirSync(FOLDER, { recursive: true });
  const part = mkdtempSync(join(FOLDER, 'part-'));
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefix', part];
  const npm = ['install', ...flags, `${PACKAGE}@${version}`];
  const { status } = spawnSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    if (status === 0) renameSync(part, join(FOLDER, version));
  } catch {} // Another process was faster.
  rmSync(part, { recursive: true, force: true });
  if (existsSync(program)) return program;
  console.error('npm could not install it. Install Node.js 22.18 or newer: https://nodejs.org');
  process.exit(67); // `install_failed` in common/errors
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isOld = major < 22 || (major === 22 && minor < 18) || (major === 23 && minor < 6);
if (isOld) {
  const program = installNode(PINNED);
  const PATH = [dirname(program), process.env['PATH']].join(delimiter);
  const args = [...process.execArgv, relative('', String(process.argv[1])), ...process.argv.slice(2)];
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, PATH, FIRST_STAGE: 'done' },
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, (signal) => child.kill(signal));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
}
// A killed npm or first stage forwards no signal.
const parent = process.ppid;
function endWithParent() {
  if (process.ppid === parent) setTimeout(endWithParent, 1000).unref();
  else process.kill(process.pid);
}
if (isMainThread && (process.env['npm_lifecycle_event'] || process.env['FIRST_STAGE'])) endWithParent();
if (isOld) await new Promise(() => {});
// Processes that this one forks need no first stage.
if (process.execArgv[1]?.endsWith('first-stage.js')) process.execArgv.splice(0, 2);
