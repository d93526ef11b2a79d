import { fork } from 'node:child_process';
import { join } from 'node:path';
import { forEachConcurrently } from '../../common/concurrency.ts';
import { MillraceError } from '../../common/errors.ts';
import type { FileAnswer, FileOrder } from '../support/unit-runner/child.ts';
import { TEMPORARY, Workspace } from './workspace.ts';

/** A mistake that a test must notice. `before` occurs once in the file, and `after` replaces it. */
export type KnownMistake = { file: string; before: string; after: string; test: string };

/** Limit for a test file, in ms. */
const LIMIT_MS = 300_000;

/** Limit for a test, in ms. A mistake may let it wait for something that never comes. */
const TEST_LIMIT_MS = 60_000;

const RENEW =
  'Renew the entry in test/mutation: name the code as it is now, a mistake of the same kind, and the test.';

/** @returns the source with the mistake @throws `usage` when the entry does not apply */
export function sourceWith({ file, before, after }: KnownMistake, source: string): string {
  const times = source.split(before).length - 1;
  if (times === 1) return source.replace(before, () => after);
  const problem = times === 0 ? 'is missing' : `occurs ${times} times`;
  throw new MillraceError('usage', `${file}: \`${before}\` ${problem}. ${RENEW}`);
}

/**
 * @param options `workers`: mistakes at a time
 * @returns a text for each entry that does not apply, that its test does not notice, or whose test fails without the mistake
 */
export async function findUnnoticed(
  entries: KnownMistake[],
  { workers, onStatus, signal }: { workers: number; onStatus: (text: string) => void; signal: AbortSignal },
): Promise<string[]> {
  const workspaces = await Promise.all(Array.from({ length: workers }, () => Workspace.create()));
  const free = [...workspaces];
  const problems: string[] = [];
  /** Whether each test passes without a mistake. */
  const passing: Map<string, Promise<boolean>> = new Map();
  let begun = 0;

  const passes = ({ directory }: Workspace, test: string) => runTest(directory, test, signal);

  async function problemOf(entry: KnownMistake, workspace: Workspace): Promise<string> {
    const { file, before, after, test } = entry;
    const isUnnoticed = await workspace.with(
      file,
      (source) => sourceWith(entry, source),
      () => passes(workspace, test),
    );
    const name = `${file}: \`${oneLine(before)}\` -> \`${oneLine(after)}\``;
    if (isUnnoticed) return `${name}: ${test} does not notice it.`;
    const known = passing.get(test) ?? passes(workspace, test);
    passing.set(test, known);
    return (await known) ? '' : `${name}: ${test} fails without the mistake, too.`;
  }

  try {
    await forEachConcurrently(workers, entries, async (entry) => {
      onStatus(`Mutation: known mistakes, ${++begun} of ${entries.length}: ${entry.file}`);
      const workspace = free.pop() as Workspace;
      try {
        const problem = await problemOf(entry, workspace);
        if (problem) problems.push(problem);
      } catch (error) {
        if (!(error instanceof MillraceError) || signal.aborted) throw error;
        problems.push(error.message);
      } finally {
        free.push(workspace);
      }
    });
    return problems;
  } finally {
    await Promise.all(workspaces.map((workspace) => workspace.remove()));
  }
}

/**
 * Runs a unit test file of a copy in a process of its own, and kills that process and its children.
 * @returns whether it passes
 */
async function runTest(directory: string, test: string, signal: AbortSignal): Promise<boolean> {
  const child = fork(join(directory, 'test/support/unit-runner/child.ts'), {
    cwd: directory,
    env: { ...process.env, NODE_OPTIONS: '', TMPDIR: join(directory, TEMPORARY) },
    execArgv: ['--max-old-space-size=1024'],
    serialization: 'advanced',
    stdio: 'ignore',
    detached: true,
  });
  const kill = () => killGroup(child.pid);
  signal.addEventListener('abort', kill, { once: true });
  // A mistake can be a loop without end.
  const timer = setTimeout(kill, LIMIT_MS);
  const order: FileOrder = {
    path: join(directory, test),
    setUp: [],
    timeout: TEST_LIMIT_MS,
    pattern: '',
    seed: 1,
    bails: true,
  };
  try {
    const answer: FileAnswer | null = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => resolve(null));
      child.once('message', (message) => resolve(message as FileAnswer));
      child.send(order);
    });
    signal.throwIfAborted();
    if (answer === null) return false;
    const { tests, errors } = answer;
    return tests.length > 0 && errors.length === 0 && tests.every((each) => each.errors.length === 0);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** Kills a process that was started as `detached`, and all its children. */
function killGroup(group: number | undefined) {
  try {
    if (group) process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
