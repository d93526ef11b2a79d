import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TEMPORARY } from '../workspace.ts';
import type { RunnerMessage } from './run.ts';

const script = fileURLToPath(new URL('run.ts', import.meta.url));

/** Limit for the time between two finished tests, in ms. */
const LIMIT_MS = 120_000;

/** Limit for the CPU seconds of one run. Otherwise a mistake with an endless loop would occupy a core after its parent was killed. */
const MAX_CPU_S = 900;
const LIMITED = `ulimit -t ${MAX_CPU_S}; exec "$0" "$@"`;

/** The result of a run of test files. `time`: a test took too long, or the process ended. */
interface Outcome {
  end: 'passed' | 'failed' | 'time';
  /** the last test file that began */
  file: string;
  /** of the failed test */
  title: string;
  error: string;
}

/**
 * Runs test files in a separate process, and kills that process and its children.
 * @param files relative to `directory`
 */
export function runTests(
  files: string[],
  { directory, env = {}, signal }: { directory: string; env?: Record<string, string>; signal?: AbortSignal },
): Promise<Outcome> {
  const command = [process.execPath, '--max-old-space-size=1024', script, ...files];
  const child = spawn('/bin/sh', ['-c', LIMITED, ...command], {
    cwd: directory,
    env: { ...process.env, NODE_OPTIONS: '', TMPDIR: join(directory, TEMPORARY), ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  const outcome: Outcome = { end: 'time', file: files[0] ?? '', title: '', error: 'The process ended.' };
  let timer: NodeJS.Timeout | undefined;
  const end = () => killGroup(child.pid);
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      outcome.error = 'The time limit was reached.';
      end();
    }, LIMIT_MS);
  };
  watch();
  signal?.addEventListener('abort', end, { once: true });

  child.on('message', (message: RunnerMessage) => {
    watch();
    if (message.kind === 'file') outcome.file = message.file;
    else if (message.kind === 'done') outcome.end = 'passed';
    else if (message.kind === 'failed')
      Object.assign(outcome, { end: 'failed', title: message.title, error: message.error ?? '' });
  });

  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      // Tests that were killed may have left processes.
      killGroup(child.pid);
      if (signal?.aborted) reject(signal.reason);
      else resolve(outcome);
    });
  });
}

/** Kills a process that was started as `detached`, and all its children. */
function killGroup(group: number | undefined) {
  try {
    if (group) process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
