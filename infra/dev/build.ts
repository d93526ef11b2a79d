import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { MillraceError } from '../../common/errors.ts';

/** The lowest scheduling priority (nice value): the devices and the API need the processors more than a build. */
const LOWEST_PRIORITY = 19;

interface Build {
  script: string;
  program: string;
  args: string[];
  /** folders; a build is up to date if it is newer than every file in them */
  sources: string[];
  /** files that only a complete build has */
  results: string[];
}

const DASHBOARD: Build = {
  script: 'build',
  program: 'vite/bin/vite.js',
  args: ['build', '--logLevel', 'warn'],
  sources: ['web'],
  results: ['dist/web/index.html'],
};

const MANUAL: Build = {
  script: 'docs:build',
  program: 'vitepress/bin/vitepress.js',
  args: ['build', 'docs'],
  // The build generates the pages about the interfaces, settings, tables and errors from the code.
  sources: ['docs', 'api/features', 'api/http', 'common', 'schema/migrations', 'web/kit'],
  // An interrupted build has pages, but lacks one of the scripts that display the interfaces.
  results: ['dist/docs/index.html', 'dist/docs/http/bundle.js', 'dist/docs/mqtt/bundle.css'],
};

/**
 * Builds the dashboard, unless the last build is up to date. A build takes about two seconds.
 * @returns false: it was up to date, or the build was interrupted
 * @throws `failed` with the output of the bundler
 */
export async function buildDashboard({ root, signal }: { root: string; signal?: AbortSignal }) {
  if (isBuilt(root, DASHBOARD)) return false;
  const output = await run(DASHBOARD, { root, ...(signal && { signal }) });
  if (output !== null)
    throw new MillraceError('failed', `The dashboard was not built (npm run build):\n${output}`);
  return !signal?.aborted;
}

/** While this file has the number of a running process, the API shows that the manual is being built. */
const MANUAL_MARK = 'dist/docs-build.pid';

/** Builds the manual that the API serves at `/docs/`, unless it is up to date. A build takes about ten seconds in the background. */
export async function buildManual({
  root,
  signal,
  print,
}: {
  root: string;
  signal: AbortSignal;
  /** gets a line at the end; everything else works without the manual */
  print: (text: string) => void;
}) {
  if (isBuilt(root, MANUAL)) return;
  const began = Date.now();
  const mark = join(root, MANUAL_MARK);
  writeFileSync(mark, String(process.pid));
  const output = await run(MANUAL, { root, signal, priority: LOWEST_PRIORITY });
  rmSync(mark, { force: true });
  if (output !== null) print(`! The manual was not built (npm run docs:build):\n${output}`);
  else if (!signal.aborted) print(`✓ manual built in ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

/** @returns null: the build succeeded, or was interrupted */
async function run(
  { program, args }: Build,
  { root, signal, priority }: { root: string; signal?: AbortSignal; priority?: number },
): Promise<string | null> {
  const child = spawn(process.execPath, [join(root, 'node_modules', program), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => output.push(text));
  try {
    if (child.pid && priority !== undefined) setPriority(child.pid, priority);
    const [code] = await once(child, 'close');
    return code === 0 || signal?.aborted ? null : output.join('').trim().split('\n').slice(-5).join('\n');
  } catch (error) {
    return signal?.aborted ? null : String(error);
  }
}

/** Also true if the bundler is missing, as in a production installation. */
function isBuilt(root: string, { program, sources, results }: Build): boolean {
  if (!existsSync(join(root, 'node_modules', program))) return true;
  // A file may be missing: a link may have no target, such as the lock of an editor, and another process may remove a file.
  const statOf = (path: string) => statSync(join(root, path), { throwIfNoEntry: false });
  const written = results.map((path) => statOf(path)?.mtimeMs ?? Number.POSITIVE_INFINITY);
  if (written.includes(Number.POSITIVE_INFINITY)) return false;
  // The newest result counts. A copied file may have the older time of its archive, because libuv copies times from 1.49 on.
  const builtAt = Math.max(...written);
  return sources.every((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).every((name) => {
      const source = statOf(join(folder, name));
      // Folders do not count: the bundler of the manual creates a folder in `docs/.vitepress` and removes it after the build.
      return !source?.isFile() || source.mtimeMs < builtAt;
    }),
  );
}
