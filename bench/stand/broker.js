import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../../common/errors.js';
import { findTools } from '../../infra/bootstrap/index.js';
import { freePort } from '../../infra/engine/ports.js';

/** It may miss a signal that comes before its main loop runs. */
const REMIND_MS = 200;

/**
 * A Mosquitto with persistence, and limits that never decide a measurement: in flight is what the subscriber's receive
 * maximum allows, and nothing is dropped.
 *
 * @param {string} dir its own, of which nothing is reused
 */
export async function startBroker(dir) {
  const { mosquitto } = await findTools(['mosquitto']);
  const port = await freePort();
  mkdirSync(dir, { recursive: true });
  const configuration = join(dir, 'mosquitto.conf');
  writeFileSync(
    configuration,
    [
      // Started by root it would change to a user who cannot write here.
      ...(process.getuid?.() === 0 ? ['user root'] : []),
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      'persistence true',
      `persistence_location ${dir}/`,
      'max_inflight_messages 65535',
      'max_queued_messages 0',
      'set_tcp_nodelay true',
      '',
    ].join('\n'),
  );
  const child = spawn(String(mosquitto?.path), ['-c', configuration], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let log = '';
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new MillraceError('failed', `Mosquitto ended:\n${log}`)));
    child.stderr.on('data', (chunk) => {
      if (log.length < 10_000) log += chunk;
      if (log.includes(' running')) resolve(undefined);
    });
  });

  return {
    url: `mqtt://127.0.0.1:${port}`,
    pid: Number(child.pid),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const reminder = setInterval(() => child.kill('SIGTERM'), REMIND_MS);
      await exited;
      clearInterval(reminder);
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startBroker>>} Broker */
