import { spawn } from 'node:child_process';
import { once } from 'node:events';

const LATE_MS = 120_000;

/** @param withinMs after this time it is killed */
export async function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  withinMs: number = LATE_MS,
) {
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  // A program that does not end is killed together with the shells that it has started.
  const late = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), withinMs);
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  clearTimeout(late);
  return { code, out, errors };
}
