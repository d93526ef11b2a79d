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
 * @returns {Promise<Broker & { kill: () => Promise<void>, start: () => Promise<void> }>} `kill`: with SIGKILL; `start`: again, with what it had written
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
  const run = () => runMosquitto(String(mosquitto?.path), configuration, { detached: true });
  let child = await run();
  return {
    url: `mqtt://127.0.0.1:${port}`,
    pid: Number(child.pid),
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    async start() {
      child = await run();
    },
    stop: () => stopMosquitto(child),
  };
}

/** Mosquitto may miss a signal that comes before its main loop runs. */
const REMIND_MS = 200;

/**
 * @param {number} port
 * @param {string} dir where it keeps its queues
 * @returns {string[]} lines of a configuration: on loopback, and nothing is dropped
 */
export const persistentOn = (port, dir) => [
  // Root would start Mosquitto as a user who cannot write here.
  ...(process.getuid?.() === 0 ? ['user root'] : []),
  `listener ${port} 127.0.0.1`,
  'persistence true',
  `persistence_location ${dir}/`,
  'max_queued_messages 0',
];

/**
 * Starts a Mosquitto, and waits until it listens.
 *
 * @param {string} command
 * @param {string} configuration its file
 * @param {SpawnOptions} [options]
 * @returns {Promise<ChildProcess>}
 * @throws {MillraceError} `failed`, with what it said, when it ends instead
 */
export async function runMosquitto(command, configuration, options = {}) {
  const child = spawn(command, ['-c', configuration], { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new MillraceError('failed', `Mosquitto ended:\n${log}`)));
    child.stderr?.on('data', (chunk) => {
      if (log.length < 10_000) log += chunk;
      if (log.includes(' running')) resolve(undefined);
    });
  });
  return child;
}

/** Ends Mosquitto with SIGTERM, so that it saves its queues. @param {ChildProcess} child */
export async function stopMosquitto(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const reminder = setInterval(() => child.kill('SIGTERM'), REMIND_MS);
  await exited;
  clearInterval(reminder);
}
