import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';

/** The lowest priority: the devices and the API need the processors more. */
const LOWEST_PRIORITY = 19;

/**
 * Builds the manual that the API serves at `/docs/`, unless it is newer than its pages. Takes about ten seconds, in the background.
 *
 * @param {object} options
 * @param {string} options.root the repository
 * @param {AbortSignal} options.signal
 * @param {(text: string) => void} options.print gets a line if the manual cannot be built; everything else works without it
 */
export async function buildManual({ root, signal, print }) {
  const program = join(root, 'node_modules/vitepress/bin/vitepress.js');
  // An installation for production has no tools.
  if (isBuilt(root) || !existsSync(program)) return;
  const child = spawn(process.execPath, [program, 'build', 'docs'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  /** @type {string[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => output.push(text));
  try {
    if (child.pid) setPriority(child.pid, LOWEST_PRIORITY);
    const [code] = await once(child, 'close');
    if (code !== 0 && !signal.aborted)
      print(
        `! The manual was not built (npm run docs:build):\n${output.join('').trim().split('\n').slice(-5).join('\n')}`,
      );
  } catch (error) {
    if (!signal.aborted) print(`! The manual was not built: ${error}`);
  }
}

/** @param {string} root @returns {boolean} whether the manual is newer than all its pages */
function isBuilt(root) {
  const builtAt = statSync(join(root, 'dist/docs/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const docs = join(root, 'docs');
  return readdirSync(docs, { recursive: true, encoding: 'utf8' }).every(
    (name) => statSync(join(docs, name)).mtimeMs < builtAt,
  );
}
