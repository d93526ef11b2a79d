import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTools } from '../../../infra/bootstrap/index.js';
import { freePort } from '../../../infra/engine/ports.js';
import { guardLines, makeSignIn, settingsBehind } from './guard.js';
import { persistentOn, runMosquitto, stopMosquitto } from './mosquitto.js';

/** @import { Access, Guard } from './guard.js' */

/**
 * A broker that is published to.
 *
 * @typedef {object} Broker
 * @property {string} url
 * @property {Access} access what a publisher needs
 * @property {number} [pid] none: it is within the ingest process
 * @property {() => Promise<void>} stop
 */

/**
 * A Mosquitto with persistence, and limits that never decide a measurement: in flight is what the subscriber's receive
 * maximum allows, and nothing is dropped.
 *
 * @param {string} dir its own, of which nothing is reused
 * @param {Guard} [guard] default: it lets everybody in
 * @returns {Promise<Broker & { settings: NodeJS.ProcessEnv, kill: () => Promise<void>, start: () => Promise<void> }>} `settings`: what an ingest process needs; `kill`, `start`: with SIGKILL, and again with what it had written
 */
export async function startBroker(dir, guard = {}) {
  const { mosquitto } = await findTools(['mosquitto']);
  const port = await freePort();
  const signIn = guard.accounts ? makeSignIn() : undefined;
  mkdirSync(dir, { recursive: true });
  const configuration = join(dir, 'mosquitto.conf');
  const lines = [
    ...persistentOn(port, dir),
    ...(await guardLines(dir, guard, signIn)),
    'max_inflight_messages 65535',
    'set_tcp_nodelay true',
    '',
  ];
  writeFileSync(configuration, lines.join('\n'));
  const run = () => runMosquitto(String(mosquitto?.path), configuration, { detached: true });
  let child = await run();
  return {
    url: `${guard.tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`,
    access: { ca: guard.tls?.ca, accounts: signIn ? [signIn] : [] },
    settings: settingsBehind(guard, signIn),
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
