import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { recordingToo } from '../query-rules/recording.ts';

const run = promisify(execFile);
/** A time limit below the timeout of a test, so that a command that hangs is reported with its output. */
const COMMAND_MS = 120_000;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Copies the work tree as git would clone it, without ignored files (packages, jars, data, `.env`).
 * @returns a folder with a space in its name
 */
export async function cloneWorkTree(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'millrace-dev-'));
  const folder = join(parent, 'a clone');
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', args, { cwd: ROOT, maxBuffer: 64 * 1024 ** 2 });
  for (const name of new Set(stdout.split('\0').filter(Boolean))) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await cp(join(ROOT, name), join(folder, name)).catch((error) => {
      if (error.code !== 'ENOENT') throw error; // Deleted in the work tree, and not yet in the index.
    });
  }
  return { folder, remove: () => rm(parent, { recursive: true, force: true, maxRetries: 3 }) };
}

export async function freePorts(): Promise<{ HTTP_PORT: string; MQTT_PORT: string; CQL_LOCAL_PORT: string }> {
  const [http, mqtt, cql] = [await steadyPort(), await steadyPort(), await steadyPort()];
  return { HTTP_PORT: String(http), MQTT_PORT: String(mqtt), CQL_LOCAL_PORT: String(cql) };
}

/** @returns the environment of this process without the variables of npm, jest and Millrace */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const isExcluded = (name: string) =>
    name in ALL_SETTINGS ||
    /^(npm_|JEST_|TEST_)/.test(name) ||
    ['NODE_OPTIONS', 'NODE_ENV', 'INIT_CWD'].includes(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isExcluded(name)));
}

/** Starts `npm run dev` as a user does in a terminal, in its own process group. @param folder the clone */
export function startDev(folder: string, settings: NodeJS.ProcessEnv, flags: string[] = []) {
  const child = spawn('npm', ['run', 'dev', '--', ...flags], {
    cwd: folder,
    detached: true,
    env: { ...plainEnvironment(), ...recordingToo(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = Number(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return {
    pid,
    exited,
    output: () => output,
    /** Sends the signal to npm and its children, as Ctrl-C does. */
    signalGroup: (name: NodeJS.Signals) => process.kill(-pid, name),
    /** Sends the signal to npm only, as a service manager does. */
    signalNpm: (name: NodeJS.Signals) => process.kill(pid, name),
    /**
     * Waits for a condition. It fails with the whole output when the process ends before, or when the time is over.
     * @param withinMs less than the timeout of the test, so that a failure shows the output
     */
    async until<T>(condition: () => Promise<T | null | false>, withinMs: number = 300_000): Promise<T> {
      let ended = false;
      exited.finally(() => {
        ended = true;
      });
      const endsAt = performance.now() + withinMs;
      for (;;) {
        const value = await condition();
        if (value) return value;
        if (ended) throw new Error(`npm run dev ended:\n${output}`);
        if (performance.now() > endsAt)
          throw new Error(`Not true within ${withinMs} ms. npm run dev:\n${output}`);
        await sleep(200);
      }
    },
  };
}

/**
 * Runs another command as a user does while `npm run dev` runs, without settings.
 * @param folder the clone
 * @returns rejects when the command fails, or does not end
 */
export const runNextToDev = (
  folder: string,
  script: string,
  args: string[],
): Promise<{ stdout: string; stderr: string }> =>
  run('npm', ['run', '-s', script, '--', ...args], {
    cwd: folder,
    env: { ...plainEnvironment(), ...recordingToo() },
    timeout: COMMAND_MS,
  });

export type DevProcess = ReturnType<typeof startDev>;
