import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';

export const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

const POLL_MS = 100;
const READY_MS = 60_000;
const STOP_MS = 20_000;

/**
 * It runs until it is stopped, or until this process ends.
 * @throws {MillraceError} `failed`: the program ended, or was not ready in time
 */
export async function startProgram({
  title,
  command,
  args,
  log,
  isReady,
}: {
  title: string;
  command: string;
  args: string[];
  log: string;
  /** called often; `log`: the output so far */
  isReady: (log: string) => Promise<boolean> | boolean;
}): Promise<Program> {
  mkdirSync(dirname(log), { recursive: true });
  const out = openSync(log, 'w');
  // The program gets its own process group. Ctrl-C then reaches only this process, which ends its programs in order.
  const child = spawn(command, args, { stdio: ['ignore', out, out], detached: true });
  closeSync(out);
  const exited = once(child, 'exit');
  exited.catch(() => {}); // A program that cannot be started is noticed below.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const isOver = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

  async function finish(signal: NodeJS.Signals) {
    process.off('exit', end);
    if (isOver()) return;
    child.kill(signal);
    const late = setTimeout(end, STOP_MS);
    await exited;
    clearTimeout(late);
  }

  const deadline = Date.now() + READY_MS;
  for (;;) {
    await sleep(POLL_MS);
    if (isOver()) throw new MillraceError('failed', `${title} ended at its start. Its log: ${log}`);
    if (await isReady(readFileSync(log, 'utf8'))) break;
    if (Date.now() < deadline) continue;
    await finish('SIGKILL');
    throw new MillraceError('failed', `${title} is not ready after ${READY_MS / 1000} s. Its log: ${log}`);
  }
  return { pid: Number(child.pid), stop: () => finish('SIGTERM') };
}

export type Program = { pid: number; stop: () => Promise<void> };
