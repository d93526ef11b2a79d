import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { claimDataDir } from '../../common/data-dir.js';
import { MillraceError } from '../../common/errors.js';
import { askRegistry } from '../bootstrap/registry.js';
import { runShown } from '../bootstrap/run-shown.js';

const run = promisify(execFile);
const inFolder = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const REQUIREMENTS = inFolder('requirements.txt');
/** File in an environment: a copy of the requirements from which the environment was made. */
const STAMP = 'requirements.installed';

/** @typedef {{ program: (name: string) => string }} PythonTools `program` gives the path of one of its commands */

/**
 * Returns the tools of `requirements.txt` from a virtual environment under `DATA_DIR/python`. The environment is made if it is missing, or
 * if the requirements have changed. Concurrent processes make separate environments, and the first finished environment is used. An
 * environment cannot be moved, so only a link to it is replaced.
 *
 * @param {object} options
 * @param {string} options.dataDir
 * @param {string} [options.requirements] path of another list of packages, which gets a separate environment
 * @param {string} [options.name] folder of the environment under `dataDir`
 * @param {(text: string) => void} options.onStatus
 * @param {string} [options.python] the Python that makes the environment, 3.11 or newer
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<PythonTools>}
 * @throws {MillraceError} `tool_missing`, `install_failed`
 */
export async function ensurePython(options) {
  const {
    dataDir,
    requirements = REQUIREMENTS,
    name = 'python',
    onStatus,
    python = 'python3',
    signal,
  } = options;
  const home = resolve(dataDir, name);
  const current = join(home, 'current');
  const isReady = () => readIfThere(join(current, STAMP)) === readFileSync(requirements, 'utf8');
  if (!isReady()) {
    await claimDataDir(resolve(dataDir));
    mkdirSync(home, { recursive: true });
    const own = mkdtempSync(join(home, 'environment-'));
    let taken = false;
    try {
      await makeEnvironment(own, { python, requirements, shown: { onStatus, signal } });
      if (!isReady()) {
        replaceLink(current, own);
        taken = true;
      }
    } finally {
      if (!taken) rmSync(own, { recursive: true, force: true });
    }
  }
  return { program: (name) => join(current, 'bin', name) };
}

/**
 * Returns the packages of `readers.txt`, which only the long tests need, from a separate environment.
 *
 * @param {Pick<Parameters<typeof ensurePython>[0], 'dataDir' | 'onStatus'>} options
 * @returns {Promise<PythonTools>}
 * @throws {MillraceError} `tool_missing`, `install_failed`
 */
export const ensureReaders = (options) =>
  ensurePython({ ...options, requirements: inFolder('readers.txt'), name: 'python-readers' });

/**
 * @param {string} directory an empty directory
 * @param {{ python: string, requirements: string, shown: { onStatus: (text: string) => void, signal?: AbortSignal } }} options
 */
async function makeEnvironment(directory, { python, requirements, shown }) {
  try {
    await runShown(python, ['-m', 'venv', directory], { ...shown, title: 'Python environment' });
  } catch (cause) {
    throw new MillraceError(
      'tool_missing',
      `${python} cannot make a virtual environment. Install Python 3.11 or newer with its venv module (Debian: apt-get install python3-venv).\n${cause}`,
      { cause },
    );
  }
  // --no-compile saves time: Python compiles a module at its first import, and most modules are never imported.
  const args = [
    ...['-m', 'pip', 'install', '--no-compile', '--retries', '5', '--timeout', '60', '--no-deps'],
    ...['--only-binary', ':all:', '--requirement', requirements],
  ];
  await askRegistry(
    'PyPI',
    () => runShown(join(directory, 'bin', 'python'), args, { ...shown, title: 'Python tools' }),
    { ...shown, advice: `pip could not install ${requirements}.` },
  );
  copyFileSync(requirements, join(directory, STAMP));
}

/** @param {string} link @param {string} target */
function replaceLink(link, target) {
  symlinkSync(target, `${target}.link`);
  renameSync(`${target}.link`, link);
}

/**
 * @param {PythonTools} tools
 * @param {string} path path of a YAML file
 * @returns {Promise<any>} the document
 */
export async function readYaml(tools, path) {
  const { stdout } = await run(tools.program('python'), [inFolder('yaml_to_json.py'), path]);
  return JSON.parse(stdout);
}

/**
 * @param {PythonTools} tools
 * @param {string[]} paths paths of HCL files
 * @returns {Promise<Record<string, any>>} the content of each file by its path; an expression is its source text, `${...}`
 */
export async function readHcl(tools, paths) {
  const args = [inFolder('hcl_to_json.py'), ...paths];
  const { stdout } = await run(tools.program('python'), args, { maxBuffer: 64 * 1048576 });
  return JSON.parse(stdout);
}

/** @param {string} path @returns {string | null} */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    throw error;
  }
}
