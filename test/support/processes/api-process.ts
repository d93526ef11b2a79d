import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { recordingToo } from '../query-rules/recording.js';
import { until } from '../until.js';

/** @import { Readable } from 'node:stream' */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** @typedef {'api/index.js' | 'api/commands/migrate.js' | 'api/commands/roles.js' | 'api/commands/dead-letters/index.js' | 'api/commands/credentials/index.js' | 'api/commands/alarms/index.js' | 'api/commands/export.js' | 'api/commands/import/index.js' | 'api/commands/stream.js' | 'simulator/verify/index.js' | 'infra/operations/steps/expect-stopped.js' | 'infra/operations/steps/alter.js' | 'test/cluster/kit/ack-before-commit.js' | 'test/support/processes/api-ahead.js'} Script */

/**
 * Starts a script of this repository as a separate process.
 *
 * @param {string} script
 * @param {string[]} args
 * @param {{ cwd?: string, env: NodeJS.ProcessEnv }} options
 */
export function startScript(script, args, options) {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    ...options,
    // The channel closes when the test process ends for any reason. Then the script ends as well.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const streams = /** @type {Readable[]} */ ([child.stdout, child.stderr]);
  let output = '';
  for (const stream of streams) stream.on('data', (chunk) => (output += chunk));
  // The event is `exit`, because `close` never comes when the parent disconnects the channel.
  const ended = Promise.all([once(child, 'exit'), ...streams.map((stream) => finished(stream))]).then(
    ([[code, signal]]) => ({ code: /** @type {number | null} */ (code), signal, output }),
  );
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    child,
    output: () => output,
    /** Exit code, signal and the whole output. */
    ended,
    running,
    /** Kills it if it still runs. */
    async kill() {
      if (running()) child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Starts a command of this repository in an empty directory, so that it reads no `.env`.
 *
 * @param {Script} script
 * @param {NodeJS.ProcessEnv} settings
 * @param {string[]} [args]
 */
export function startCommand(script, settings, args = []) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-command-'));
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: join(directory, 'data'),
    ...recordingToo(),
    ...settings,
  };
  const { child, ...command } = startScript(script, args, { cwd: directory, env });
  const ended = command.ended.finally(() => rmSync(directory, { recursive: true, force: true }));
  return {
    ...command,
    pid: child.pid,
    ended,
    /** @param {NodeJS.Signals} signal */
    signal: (signal) => child.kill(signal),
  };
}

/**
 * Starts `npm start` as a separate process, and waits until it is ready.
 *
 * @param {NodeJS.ProcessEnv} settings
 * @param {{ script?: Script, withinMs?: number }} [options] `script`: another script that starts in the same way
 */
export async function startApi(settings, { script = 'api/index.js', withinMs } = {}) {
  const api = startCommand(script, settings);
  try {
    const ready = await until(
      async () => {
        if (!api.running()) {
          // The last output of the process may arrive after its exit.
          const { code, output } = await api.ended;
          throw Object.assign(new Error(`npm start ended (${code}):\n${output}`), { exitCode: code });
        }
        return /\{.*"msg":"ready".*\}/.exec(api.output())?.[0];
      },
      { what: 'the API', withinMs },
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
