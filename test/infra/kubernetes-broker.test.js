import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { certificatesFolder } from '../support/certificates.js';
import { prepareBroker } from '../support/kubernetes/broker.js';
import { KUBERNETES } from '../support/kubernetes/build.js';
import { until } from '../support/until.js';

/** @import { IClientOptions } from 'mqtt' */

// The broker's configuration and start script for Kubernetes, on the Mosquitto of this machine.

/** @type {string} */
let directory;
/** @type {(() => void | Promise<void>)[]} */
let cleanUps;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-kubernetes-broker-'));
  cleanUps = [() => rmSync(directory, { recursive: true, force: true })];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

/** @param {'mosquitto' | 'mosquitto-tls'} component */
async function brokerOf(component) {
  const broker = await prepareBroker(directory, component);
  cleanUps.push(broker.stop);
  return broker;
}

/** @param {string} url @param {IClientOptions} options @returns {Promise<boolean>} whether it is let in */
async function isLetIn(url, options) {
  const client = await mqtt
    .connectAsync(url, { reconnectPeriod: 0, connectTimeout: 5000, ...options }, false)
    .catch(() => null);
  await client?.endAsync();
  return client !== null;
}

test('the rights at the broker are those of docker-compose.yml', () => {
  const rules = (/** @type {string} */ path) => readFileSync(path, 'utf8').match(/^[^#\n].*$/gm);
  const ours = rules(`${KUBERNETES}/components/mosquitto/mosquitto.acl`);
  expect(ours).toEqual(rules('infra/compose/mosquitto.acl'));
});

test('start.sh runs the broker, and has it take a renewed password while it runs', async () => {
  const broker = await brokerOf('mosquitto');
  const child = broker.start();
  const url = `mqtt://127.0.0.1:${broker.port}`;
  await until(() => isLetIn(url, { username: 'millrace', password: 'application' }));
  expect(await isLetIn(url, { username: 'devices', password: 'devices' })).toBe(true);
  expect(await isLetIn(url, { username: 'devices', password: 'application' })).toBe(false);
  writeFileSync(join(broker.secrets, 'mqtt_device_password'), 'another');
  await until(() => isLetIn(url, { username: 'devices', password: 'another' }));
  expect(await isLetIn(url, { username: 'devices', password: 'devices' })).toBe(false);
  expect(child.exitCode).toBeNull();
});

describe('where passwords cannot be hashed', () => {
  /** @type {string} */
  let isBroken;
  /** @type {string} */
  let programs;
  beforeEach(() => {
    isBroken = join(directory, 'is-broken');
    programs = join(directory, 'programs');
    mkdirSync(programs);
  });
  /** @param {string} outcome of mosquitto_passwd while the file is there */
  function breaks(outcome) {
    const program = join(programs, 'mosquitto_passwd');
    const text = `#!/bin/sh\n[ -e ${isBroken} ] && ${outcome}\nPATH=\${PATH#*:} exec mosquitto_passwd "$@"\n`;
    writeFileSync(program, text, { mode: 0o755 });
    writeFileSync(isBroken, '');
  }

  test.each(['exit 1', 'exit 0'])(
    '(mosquitto_passwd: %s) start.sh says so, and starts no broker',
    async (outcome) => {
      const broker = await brokerOf('mosquitto');
      breaks(outcome);
      const [code] = await once(broker.start(programs), 'close');
      expect([code, broker.said()]).toEqual([1, expect.stringContaining('could not hash the passwords')]);
      expect(broker.said()).toContain('the broker is not started');
      expect(readdirSync(join(directory, 'run'))).toEqual([]);
    },
  );

  test('it goes on with the old ones, says so, and takes the new ones when it can', async () => {
    const broker = await brokerOf('mosquitto');
    breaks('exit 1');
    rmSync(isBroken);
    broker.start(programs);
    const url = `mqtt://127.0.0.1:${broker.port}`;
    await until(() => isLetIn(url, { username: 'devices', password: 'devices' }));
    writeFileSync(isBroken, '');
    writeFileSync(join(broker.secrets, 'mqtt_device_password'), 'another');
    await until(() => broker.said().includes('goes on with the old ones'));
    expect(await isLetIn(url, { username: 'devices', password: 'devices' })).toBe(true);
    rmSync(isBroken);
    await until(() => isLetIn(url, { username: 'devices', password: 'another' }));
  });
});

test('with the component mosquitto-tls it speaks TLS alone, and shows a renewed certificate while it runs', async () => {
  const broker = await brokerOf('mosquitto-tls');
  const folder = certificatesFolder();
  cleanUps.push(folder.remove);
  /** @param {boolean} renew */
  const certify = async (renew) => {
    const { cert, key, authority } = await folder.make('ours', { renew });
    copyFileSync(key, join(broker.certificates, 'tls.key'));
    copyFileSync(cert, join(broker.certificates, 'tls.crt'));
    return authority;
  };
  const ca = await certify(false);
  const child = broker.start();
  const account = { username: 'devices', password: 'devices' };
  const secure = `mqtts://localhost:${broker.port}`;
  await until(() => isLetIn(secure, { ...account, ca }));
  expect(await isLetIn(`mqtt://localhost:${broker.port}`, account)).toBe(false);

  const shown = async () => {
    const socket = connect({ port: broker.port, host: 'localhost', ca });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const before = await shown();
  await certify(true);
  await until(async () => (await shown()) !== before);
  expect(await isLetIn(secure, { ...account, ca })).toBe(true);
  expect(child.exitCode).toBeNull();
});
