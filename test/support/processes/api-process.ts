import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { recordingToo } from '../query-rules/recording.ts';
import { until } from '../until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export type Script =
  | 'api/index.ts'
  | 'api/commands/migrate.ts'
  | 'api/features/roles/command.ts'
  | 'api/features/dead-letters/command/index.ts'
  | 'api/features/credentials/command/index.ts'
  | 'api/features/alarms/command/index.ts'
  | 'api/features/export/command.ts'
  | 'api/features/graph/command.ts'
  | 'api/features/import/command/index.ts'
  | 'api/features/kafka/command.ts'
  | 'simulator/verify/index.ts'
  | 'infra/operations/expect-stopped.ts'
  | 'test/cluster/kit/ack-before-commit.ts'
  | 'test/support/processes/api-ahead.ts';

export function startScript(
  script: string,
  args: string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
) {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    ...options,
    // The channel closes when the test process ends for any reason. Then the script ends as well.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const streams = [child.stdout, child.stderr] as Readable[];
  let output = '';
  for (const stream of streams) stream.on('data', (chunk) => (output += chunk));
  // The event is `exit`, because `close` never comes when the parent disconnects the channel.
  const ended = Promise.all([once(child, 'exit'), ...streams.map((stream) => finished(stream))]).then(
    ([[code, signal]]) => ({ code: code as number | null, signal, output }),
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

/** Starts a command of this repository in an empty directory, so that it reads no `.env`. */
export function startCommand(script: Script, settings: NodeJS.ProcessEnv, args: string[] = []) {
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
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    send: (message: object) => child.send(message),
  };
}

/**
 * Starts `npm start` as a separate process, and waits until it is ready.
 * @param options `script`: another script that starts in the same way
 */
export async function startApi(
  settings: NodeJS.ProcessEnv,
  { script = 'api/index.ts', withinMs }: { script?: Script; withinMs?: number } = {},
) {
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

export type ApiProcess = Awaited<ReturnType<typeof startApi>>;
