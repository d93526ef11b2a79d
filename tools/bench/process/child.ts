import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { MillraceError } from '../../../common/errors.ts';

const STOP_MS = 10_000;

export async function startChild(
  script: string,
  {
    title,
    env,
    nodeFlags = [],
    log,
    isReady,
  }: {
    title: string;
    /** variables in addition to those of this process */
    env?: NodeJS.ProcessEnv;
    nodeFlags?: string[];
    log: string;
    /** the process is ready when a truthy value is returned; missing: with its first IPC message */
    isReady?: (line: string) => unknown;
  },
) {
  mkdirSync(dirname(log), { recursive: true });
  // A process group of its own: Ctrl-C reaches only this process, which ends its children in order.
  const child = fork(script, [], {
    detached: true,
    env: { ...process.env, ...env },
    execArgv: nodeFlags,
    serialization: 'advanced',
    silent: true,
  });
  const file = createWriteStream(log);
  const pending: Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }> =
    new Map();
  let lastId = 0;
  let stopping = false;

  const dead = once(child, 'exit').then(([code, signal]) => {
    const error = new MillraceError('failed', `The ${title} ended (${signal ?? code}). Its log: ${log}`);
    for (const { reject } of pending.values()) reject(error);
    if (!stopping) throw error;
  });
  dead.catch(() => {}); // Each caller that awaits it gets the error.
  child.on('message', ({ id, result, error }: { id: number; result: unknown; error?: string }) => {
    const request = pending.get(id);
    pending.delete(id);
    if (error) request?.reject(new Error(`${title}: ${error}`));
    else request?.resolve(result as never);
  });

  const started = new Promise((resolve) => {
    if (!isReady) child.once('message', resolve);
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface(stream).on('line', (line) => {
        file.write(`${line}\n`);
        const found = isReady?.(line);
        if (found) resolve(found);
      });
    }
  });
  const ready = await Promise.race([started, dead]);

  return {
    ready,
    pid: Number(child.pid),

    /** @template T what the function `call` of the process returns @returns answer of the process */
    call: <T>(call: string, argument?: unknown): Promise<T> =>
      new Promise((resolve, reject) => {
        if (!child.connected)
          return reject(new MillraceError('failed', `The ${title} has ended. Its log: ${log}`));
        const id = ++lastId;
        pending.set(id, { resolve, reject });
        child.send({ id, call, argument });
      }),

    async stop() {
      stopping = true;
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      if (child.connected) child.disconnect();
      await dead.catch(() => {}); // The process has ended, as wanted.
      clearTimeout(late);
      file.end();
    },
  };
}

export type Child = Awaited<ReturnType<typeof startChild>>;

/**
 * Answers requests of the parent process over IPC, each with the function of that name in `handlers`. The process ends with its parent.
 * @param onEnd closes open resources; the process waits for it
 */
export function serve(
  handlers: Record<string, (argument: never) => unknown>,
  onEnd: () => unknown = () => {},
) {
  process.on('message', async (request: { id: number; call: string; argument: unknown }) => {
    const { id, call, argument } = request;
    try {
      reply({ id, result: await handlers[call]?.(argument as never) });
    } catch (error) {
      reply({ id, error: (error as Error).stack });
    }
  });
  process.on('disconnect', async () => {
    try {
      await onEnd();
    } finally {
      process.exit();
    }
  });
  reply({ ready: true });
}

function reply(message: object) {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
