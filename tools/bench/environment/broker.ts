import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../../../common/errors.ts';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';

/**
 * Persistence is on, and no limit affects a measurement. The receive maximum of the subscriber limits the messages in flight, and Mosquitto
 * drops no message.
 * @param dir folder of this broker; the broker reuses no files of another broker
 */
export async function startBroker(dir: string) {
  const { mosquitto } = await findTools(['mosquitto']);
  const port = await steadyPort();
  mkdirSync(dir, { recursive: true });
  const configuration = join(dir, 'mosquitto.conf');
  const unlimited = ['allow_anonymous true', 'max_inflight_messages 65535', 'set_tcp_nodelay true', ''];
  writeFileSync(configuration, [...persistentOn(port, dir), ...unlimited].join('\n'));
  const broker = createMosquitto(String(mosquitto?.path), configuration, { detached: true });
  return { url: `mqtt://127.0.0.1:${port}`, pid: await broker.start(), stop: broker.stop };
}

/** Listens on loopback, and drops no message. */
export const persistentOn = (port: number, dir: string): string[] => [
  // Without this line, Mosquitto changes from root to a user that cannot write here.
  ...(process.getuid?.() === 0 ? ['user root'] : []),
  `listener ${port} 127.0.0.1`,
  'persistence true',
  `persistence_location ${dir}/`,
  'max_queued_messages 0',
];

/** Mosquitto may miss a signal that arrives before its main loop runs. */
const REMIND_MS = 200;

export function createMosquitto(command: string, configuration: string, options: SpawnOptions) {
  let child: ChildProcess | null = null;

  async function end(signal: NodeJS.Signals) {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    const reminder = setInterval(() => running.kill(signal), REMIND_MS);
    await exited;
    clearInterval(reminder);
  }

  return {
    /** @returns pid, once it listens @throws {MillraceError} `failed`, with the output of Mosquitto, when Mosquitto ends instead */
    async start(): Promise<number> {
      const started = spawn(command, ['-c', configuration], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let log = '';
      await new Promise((resolve, reject) => {
        started.once('error', reject);
        started.once('exit', () => reject(new MillraceError('failed', `Mosquitto ended:\n${log}`)));
        started.stderr?.on('data', (chunk) => {
          if (log.length < 10_000) log += chunk;
          if (log.includes(' running')) resolve(undefined);
        });
      });
      child = started;
      return Number(started.pid);
    },

    stop: () => end('SIGTERM'),

    /** Messages since Mosquitto last wrote its queues are lost. */
    kill: () => end('SIGKILL'),

    signal: (name: NodeJS.Signals) => child?.kill(name),
  };
}
