import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { freePort } from '../../infra/engine/ports.js';
import { KUBERNETES } from '../support/kubernetes/build.js';
import { until } from '../support/until.js';

// The broker's configuration and start script for Kubernetes, on the Mosquitto of this machine.

const MOSQUITTO = `${KUBERNETES}/components/mosquitto`;

/** @type {string} */
let directory;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-kubernetes-broker-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** @param {string} path */
const read = (path) => readFileSync(path, 'utf8');

test('the rights at the broker are those of docker-compose.yml', () => {
  const rules = (/** @type {string} */ path) => read(path).match(/^[^#\n].*$/gm);
  expect(rules(`${MOSQUITTO}/mosquitto.acl`)).toEqual(rules('infra/compose/mosquitto.acl'));
});

test('start.sh runs the broker, and has it take a renewed password while it runs', async () => {
  const port = await freePort();
  const [configuration, secrets, data] = ['configuration', 'secrets', 'data'].map((name) =>
    join(directory, name),
  );
  for (const name of [`${configuration}/listeners`, secrets, data])
    mkdirSync(String(name), { recursive: true });
  const here = (/** @type {string} */ text) =>
    text
      .replaceAll('/opt/millrace/', `${configuration}/`)
      .replaceAll('/tmp/mosquitto/', `${directory}/run/`)
      .replaceAll('/mosquitto/data/', `${data}/`)
      .replace('listener 1883', `listener ${port} 127.0.0.1`);
  const asRoot = process.getuid?.() === 0 ? '\nuser root\n' : '';
  writeFileSync(`${configuration}/mosquitto.conf`, here(read(`${MOSQUITTO}/mosquitto.conf`)) + asRoot);
  writeFileSync(`${configuration}/listeners/listener.conf`, here(read(`${MOSQUITTO}/listener.conf`)));
  copyFileSync(`${MOSQUITTO}/mosquitto.acl`, `${configuration}/mosquitto.acl`);
  writeFileSync(`${secrets}/mqtt_password`, 'of the application');
  writeFileSync(`${secrets}/mqtt_device_password`, 'of devices');
  const broker = spawn('/bin/sh', [`${MOSQUITTO}/start.sh`], {
    env: {
      PATH: `${process.env['PATH']}:/usr/sbin`,
      SECRETS: secrets,
      CONFIGURATION: configuration,
      CERTIFICATES: join(directory, 'none'),
      RUN_DIRECTORY: join(directory, 'run'),
      LOOK_EVERY_SECONDS: '1',
    },
    stdio: 'ignore',
  });
  /** @param {string} username @param {string} password @returns {Promise<boolean>} whether it is let in */
  const isLetIn = async (username, password) => {
    const options = { username, password, reconnectPeriod: 0, connectTimeout: 5000 };
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, options, false).catch(() => null);
    await client?.endAsync();
    return client !== null;
  };
  try {
    await until(() => isLetIn('millrace', 'of the application'));
    expect(await isLetIn('devices', 'of devices')).toBe(true);
    expect(await isLetIn('devices', 'of the application')).toBe(false);
    writeFileSync(`${secrets}/mqtt_device_password`, 'another');
    await until(() => isLetIn('devices', 'another'));
    expect(await isLetIn('devices', 'of devices')).toBe(false);
    expect(broker.exitCode).toBeNull();
  } finally {
    broker.kill('SIGTERM');
    await once(broker, 'exit');
  }
});
