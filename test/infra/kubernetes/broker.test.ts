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
import type { IClientOptions } from 'mqtt';
import mqtt from 'mqtt';
import { certificatesFolder } from '../../support/certificates.ts';
import { prepareBroker } from '../../support/kubernetes/broker.ts';
import { KUBERNETES } from '../../support/kubernetes/build.ts';
import { until } from '../../support/until.ts';

// Runs the broker's configuration and start script for Kubernetes with the installed Mosquitto.

let directory: string;
let cleanUps: (() => void | Promise<void>)[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-kubernetes-broker-'));
  cleanUps = [() => rmSync(directory, { recursive: true, force: true })];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

async function brokerOf(component: 'mosquitto' | 'mosquitto-tls') {
  const broker = await prepareBroker(directory, component);
  cleanUps.push(broker.stop);
  return broker;
}

/** @returns whether the broker accepts it */
async function canConnect(url: string, options: IClientOptions): Promise<boolean> {
  const client = await mqtt
    .connectAsync(url, { reconnectPeriod: 0, connectTimeout: 5000, ...options }, false)
    .catch(() => null);
  await client?.endAsync();
  return client !== null;
}

test('Mosquitto of Kubernetes: access rules: equal to the access rules in Compose', () => {
  const rules = (path: string) => readFileSync(path, 'utf8').match(/^[^#\n].*$/gm);
  const ours = rules(`${KUBERNETES}/components/mosquitto/mosquitto.acl`);
  expect(ours).toEqual(rules('infra/compose/mosquitto.acl'));
});

test('Mosquitto of Kubernetes: a password changes while the broker runs: only the new password is accepted', async () => {
  const broker = await brokerOf('mosquitto');
  const child = broker.start();
  const url = `mqtt://127.0.0.1:${broker.port}`;
  await until(() => canConnect(url, { username: 'millrace', password: 'application' }));
  expect(await canConnect(url, { username: 'devices', password: 'devices' })).toBe(true);
  expect(await canConnect(url, { username: 'devices', password: 'application' })).toBe(false);
  writeFileSync(join(broker.secrets, 'mqtt_device_password'), 'another');
  await until(() => canConnect(url, { username: 'devices', password: 'another' }));
  expect(await canConnect(url, { username: 'devices', password: 'devices' })).toBe(false);
  expect(child.exitCode).toBeNull();
});

describe('Mosquitto of Kubernetes: passwords cannot be hashed', () => {
  let brokenFile: string;
  let programs: string;
  beforeEach(() => {
    brokenFile = join(directory, 'is-broken');
    programs = join(directory, 'programs');
    mkdirSync(programs);
  });
  /** @param outcome of mosquitto_passwd while the file exists */
  function breaks(outcome: string) {
    const program = join(programs, 'mosquitto_passwd');
    const text = `#!/bin/sh\n[ -e ${brokenFile} ] && ${outcome}\nPATH=\${PATH#*:} exec mosquitto_passwd "$@"\n`;
    writeFileSync(program, text, { mode: 0o755 });
    writeFileSync(brokenFile, '');
  }

  test.each(['exit 1', 'exit 0'])(
    'Mosquitto of Kubernetes: mosquitto_passwd writes no hash at the start (%s): an error, and the broker is not started',
    async (outcome) => {
      const broker = await brokerOf('mosquitto');
      breaks(outcome);
      const [code] = await once(broker.start(programs), 'close');
      expect([code, broker.output()]).toEqual([1, expect.stringContaining('could not hash the passwords')]);
      expect(broker.output()).toContain('the broker is not started');
      expect(readdirSync(join(directory, 'run'))).toEqual([]);
    },
  );

  test('Mosquitto of Kubernetes: mosquitto_passwd fails while the broker runs: the error is logged, and the old passwords stay valid', async () => {
    const broker = await brokerOf('mosquitto');
    breaks('exit 1');
    rmSync(brokenFile);
    broker.start(programs);
    const url = `mqtt://127.0.0.1:${broker.port}`;
    await until(() => canConnect(url, { username: 'devices', password: 'devices' }));
    writeFileSync(brokenFile, '');
    writeFileSync(join(broker.secrets, 'mqtt_device_password'), 'another');
    await until(() => broker.output().includes('goes on with the old ones'));
    expect(await canConnect(url, { username: 'devices', password: 'devices' })).toBe(true);
    rmSync(brokenFile);
    await until(() => canConnect(url, { username: 'devices', password: 'another' }));
  });
});

test('Mosquitto of Kubernetes: component mosquitto-tls: accepts only TLS, and presents a renewed certificate without a restart', async () => {
  const broker = await brokerOf('mosquitto-tls');
  const folder = certificatesFolder();
  cleanUps.push(folder.remove);
  const certify = async (renew: boolean) => {
    const { cert, key, authority } = await folder.make('ours', { renew });
    copyFileSync(key, join(broker.certificates, 'tls.key'));
    copyFileSync(cert, join(broker.certificates, 'tls.crt'));
    return authority;
  };
  const ca = await certify(false);
  const child = broker.start();
  const account = { username: 'devices', password: 'devices' };
  const secure = `mqtts://localhost:${broker.port}`;
  await until(() => canConnect(secure, { ...account, ca }));
  expect(await canConnect(`mqtt://localhost:${broker.port}`, account)).toBe(false);

  const serialNumber = async () => {
    const socket = connect({ port: broker.port, host: 'localhost', ca });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerCertificate();
    socket.destroy();
    return certificate.serialNumber;
  };
  const before = await serialNumber();
  await certify(true);
  await until(async () => (await serialNumber()) !== before);
  expect(await canConnect(secure, { ...account, ca })).toBe(true);
  expect(child.exitCode).toBeNull();
});
