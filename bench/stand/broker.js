import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTools } from '../../infra/bootstrap/index.js';
import { freePort } from '../../infra/engine/ports.js';
import { persistentOn, runMosquitto, stopMosquitto } from './mosquitto.js';

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
  const lines = [
    ...persistentOn(port, dir),
    'allow_anonymous true',
    'max_inflight_messages 65535',
    'set_tcp_nodelay true',
    '',
  ];
  writeFileSync(configuration, lines.join('\n'));
  const child = await runMosquitto(String(mosquitto?.path), configuration, { detached: true });
  return {
    url: `mqtt://127.0.0.1:${port}`,
    pid: Number(child.pid),
    stop: () => stopMosquitto(child),
  };
}

/** @typedef {Awaited<ReturnType<typeof startBroker>>} Broker */
