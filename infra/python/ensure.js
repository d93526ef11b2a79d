import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MillraceError } from '../../common/errors.js';
import { runShown } from '../bootstrap/run-shown.js';

const run = promisify(execFile);
const beside = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const REQUIREMENTS = beside('requirements.txt');

/** @typedef {{ program: (name: string) => string }} PythonTools `program` gives the path of one of its commands */

/**
 * The linters of `requirements.txt` in a virtual environment under `DATA_DIR/python`, made when it is missing or when the
 * requirements have changed. Not for two processes at once.
 *
 * @param {object} options
 * @param {string} options.dataDir
 * @param {(text: string) => void} options.onStatus
 * @param {string} [options.python] the interpreter that makes it, 3.10 or newer
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<PythonTools>}
 * @throws {MillraceError} `tool_missing`, `install_failed`
 */
export async function ensurePython({ dataDir, onStatus, python = 'python3', signal }) {
  const home = resolve(dataDir, 'python');
  const program = (/** @type {string} */ name) => join(home, 'bin', name);
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  const stamp = join(home, 'requirements.installed');
  if (readIfThere(stamp) === wanted) return { program };

  const shown = { onStatus, signal };
  try {
    await runShown(python, ['-m', 'venv', '--clear', home], { ...shown, title: 'Python environment' });
  } catch (cause) {
    throw new MillraceError(
      'tool_missing',
      `${python} cannot make a virtual environment. Install Python 3.10 or newer with its venv module (Debian: apt-get install python3-venv).\n${cause}`,
      { cause },
    );
  }
  try {
    const args = [
      '-m',
      'pip',
      'install',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--requirement',
      REQUIREMENTS,
    ];
    await runShown(program('python'), args, { ...shown, title: 'Python linters' });
  } catch (cause) {
    throw new MillraceError('install_failed', `pip could not install ${REQUIREMENTS}.\n${cause}`, { cause });
  }
  // Last, so that an environment that was interrupted is made again.
  writeFileSync(stamp, wanted);
  return { program };
}

/**
 * @param {PythonTools} tools
 * @param {string} path of a YAML file
 * @returns {Promise<any>} what it says
 */
export async function readYaml(tools, path) {
  const { stdout } = await run(tools.program('python'), [beside('yaml_to_json.py'), path]);
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
