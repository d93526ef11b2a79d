import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { until } from './until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * One of our commands as a process of its own, in an empty directory, so that no `.env` has a say.
 *
 * @param {'api/index.js' | 'api/migrate.js'} script
 * @param {NodeJS.ProcessEnv} settings
 */
export function startCommand(script, settings) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-command-'));
  const child = spawn(process.execPath, [join(ROOT, script)], {
    cwd: directory,
    env: { PATH: process.env['PATH'], DATA_DIR: join(directory, 'data'), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = Promise.all([once(child, 'exit'), finished(child.stdout), finished(child.stderr)]).then(
    ([[code, signal]]) => {
      rmSync(directory, { recursive: true, force: true });
      return { code: /** @type {number | null} */ (code), signal, output };
    },
  );
  return {
    output: () => output,
    /** How it ended, and all that it printed. */
    ended,
    /** @param {NodeJS.Signals} signal */
    signal: (signal) => child.kill(signal),
    running: () => child.exitCode === null && child.signalCode === null,
    /** Ends it at once, if it still runs. */
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * `npm start` as a process of its own, up and ready.
 *
 * @param {NodeJS.ProcessEnv} settings
 */
export async function startApi(settings) {
  const api = startCommand('api/index.js', settings);
  try {
    const ready = await until(
      () => {
        if (!api.running()) throw new Error(`npm start ended:\n${api.output()}`);
        return /\{.*"msg":"ready".*\}/.exec(api.output())?.[0];
      },
      { what: 'the API' },
    );
    const { httpPort, mqttPort } = JSON.parse(ready);
    return {
      ...api,
      httpUrl: `http://127.0.0.1:${httpPort}`,
      mqttUrl: `mqtt://127.0.0.1:${mqttPort}`,
    };
  } catch (error) {
    await api.kill();
    throw error;
  }
}

/** @typedef {Awaited<ReturnType<typeof startApi>>} ApiProcess */
