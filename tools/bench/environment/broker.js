import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../../../common/errors.js';
import { findTools } from '../../../infra/bootstrap/index.js';
import { steadyPort } from '../../../infra/engine/ports.js';

/** @import { ChildProcess, SpawnOptions } from 'node:child_process' */

/**
 * A broker that is published to.
 *
 * @typedef {object} Broker
 * @property {string} url
 * @property {number} [pid] none: it is within the ingest process
 * @property {() => Promise<void>} stop
 */

/**
 * A Mosquitto with persistence, and limits that never decide a measurement: in flight is what the subscriber's receive
 * maximum allows, and nothing is dropped.
 *
 * @param {string} dir its own, of which nothing is reused
 * @returns {Promise<Broker & { kill: () => Promise<void>, start: () => Promise<unknown> }>} `kill`: with SIGKILL; `start`: again, with what it had written
 */
export async function startBroker(dir) {
  const { mosquitto } = await findTools(['mosquitto']);
  const port = await steadyPort();
  mkdirSync(dir, { recursive: true });
  const configuration = join(dir, 'mosquitto.conf');
  const lines = [
    ...persistentOn(port, dir),
    'allow_anonymous true',
    'max_inflight_messages 65535',
    'set_tcp_nodelay true',
    '',
  ];
  writeFileSync(configuration, lines.join('\n'));
  const broker = createMosquitto(String(mosquitto?.path), configuration, { detached: true });
  return { ...broker, url: `mqtt://127.0.0.1:${port}`, pid: await broker.start() };
}

/**
 * @param {number} port
 * @param {string} dir where it keeps its queues
 * @returns {string[]} lines of a configuration: on loopback, and nothing is dropped
 */
export const persistentOn = (port, dir) => [
  // Mosquitto changes from root to a user that cannot write here.
  ...(process.getuid?.() === 0 ? ['user root'] : []),
  `listener ${port} 127.0.0.1`,
  'persistence true',
  `persistence_location ${dir}/`,
  'max_queued_messages 0',
];

/** Mosquitto may miss a signal that comes before its main loop runs. */
const REMIND_MS = 200;

/**
 * A Mosquitto that is not started yet.
 *
 * @param {string} command
 * @param {string} configuration its file
 * @param {SpawnOptions} options
 */
export function createMosquitto(command, configuration, options) {
  /** @type {ChildProcess | null} */
  let child = null;

  /** @param {NodeJS.Signals} signal */
  async function end(signal) {
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
    /**
     * Starts it, and waits until it listens.
     *
     * @returns {Promise<number>} its pid
     * @throws {MillraceError} `failed`, with its output, when it ends instead
     */
    async start() {
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

    /** Stops it in order, so it writes its queues. */
    stop: () => end('SIGTERM'),

    /** Kills it, so it loses all messages since it last wrote its queues. */
    kill: () => end('SIGKILL'),

    /** @param {NodeJS.Signals} name */
    signal: (name) => child?.kill(name),
  };
}
