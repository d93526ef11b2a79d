import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Debian keeps the broker out of the PATH of ordinary users.
const env = { PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };

/**
 * A real Mosquitto on a free loopback port. It can be stopped and started again, and keeps its queues meanwhile.
 *
 * @param {{ users?: Record<string, string> }} [options] names and passwords; default: anonymous clients are let in
 */
export async function startMosquitto({ users } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-mosquitto-'));
  const port = await freePort();
  const passwords = join(directory, 'passwords');
  for (const [index, [name, password]] of Object.entries(users ?? {}).entries()) {
    const create = index === 0 ? ['-c'] : [];
    execFileSync('mosquitto_passwd', ['-b', ...create, passwords, name, password], { env });
  }
  const configuration = join(directory, 'mosquitto.conf');
  writeFileSync(
    configuration,
    [
      // Started by root it would change to a user who cannot write here.
      ...(process.getuid?.() === 0 ? ['user root'] : []),
      `listener ${port} 127.0.0.1`,
      ...(users ? ['allow_anonymous false', `password_file ${passwords}`] : ['allow_anonymous true']),
      'persistence true',
      `persistence_location ${directory}/`,
      'max_queued_messages 0',
      '',
    ].join('\n'),
  );
  /** @type {import('node:child_process').ChildProcess | null} */
  let child = null;

  async function start() {
    const started = spawn('mosquitto', ['-c', configuration], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    child = started;
    let log = '';
    await new Promise((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', () => reject(new Error(`Mosquitto ended:\n${log}`)));
      started.stderr.on('data', (chunk) => {
        log += chunk;
        if (log.includes(' running')) resolve(undefined);
      });
    });
  }

  async function stop() {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null) return;
    const exited = once(running, 'exit');
    // It forgets a signal that comes between its word "running" and its main loop.
    running.kill('SIGTERM');
    const reminder = setInterval(() => running.kill('SIGTERM'), 200);
    await exited;
    clearInterval(reminder);
  }

  await start();
  return {
    url: `mqtt://127.0.0.1:${port}`,
    start,
    /** Ends it in order: it writes its queues. */
    stop,
    async remove() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startMosquitto>>} Mosquitto */

/** @returns {Promise<number>} a loopback port that nobody listens on just now */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
