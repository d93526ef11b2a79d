import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { claimDataDir } from '../../common/data-dir.ts';
import { MillraceError } from '../../common/errors.ts';
import { askRegistry } from '../bootstrap/registry.ts';
import { runShown } from '../bootstrap/run-shown.ts';

const run = promisify(execFile);
const inFolder = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const REQUIREMENTS = inFolder('requirements.txt');
/** File in an environment: a copy of the requirements from which the environment was made. */
const STAMP = 'requirements.installed';

export type PythonTools = { program: (name: string) => string };

/**
 * Returns the tools of `requirements.txt` from a virtual environment under `DATA_DIR/python`. The environment is made if it is missing, or
 * if the requirements have changed. Concurrent processes make separate environments, and the first finished environment is used. An
 * environment cannot be moved, so only a link to it is replaced.
 * @throws `tool_missing`, `install_failed`
 */
export async function ensurePython(options: {
  dataDir: string;
  /** path of another list of packages, which gets a separate environment */
  requirements?: string;
  /** folder of the environment under `dataDir` */
  name?: string;
  onStatus: (text: string) => void;
  /** 3.11 or newer */
  python?: string;
  signal?: AbortSignal;
}): Promise<PythonTools> {
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
 * The environment of `readers.txt`, which only the long tests need.
 * @throws `tool_missing`, `install_failed`
 */
export const ensureReaders = (
  options: Pick<Parameters<typeof ensurePython>[0], 'dataDir' | 'onStatus'>,
): Promise<PythonTools> =>
  ensurePython({ ...options, requirements: inFolder('readers.txt'), name: 'python-readers' });

async function makeEnvironment(
  directory: string,
  {
    python,
    requirements,
    shown,
  }: {
    python: string;
    requirements: string;
    shown: { onStatus: (text: string) => void; signal?: AbortSignal };
  },
) {
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

function replaceLink(link: string, target: string) {
  symlinkSync(target, `${target}.link`);
  renameSync(`${target}.link`, link);
}

export async function readYaml(tools: PythonTools, path: string) {
  const { stdout } = await run(tools.program('python'), [inFolder('yaml_to_json.py'), path]);
  return JSON.parse(stdout);
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
