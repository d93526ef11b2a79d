import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { IClientOptions } from 'mqtt';
import mqtt from 'mqtt';
import { certificatesFolder } from '../../support/certificates.ts';
import { prepareBroker } from '../../support/compose/broker.ts';
import { until } from '../../support/until.ts';

// Kubernetes renews secrets and certificates in place. Runs the broker with its listeners of Kubernetes.

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
  const secrets = join(directory, 'secrets');
  mkdirSync(secrets);
  writeFileSync(join(secrets, 'mqtt_password'), 'application');
  writeFileSync(join(secrets, 'mqtt_device_password'), 'devices');
  const listeners = `infra/kubernetes/components/${component}/listener.conf`;
  const broker = await prepareBroker({ directory, secrets, listeners });
  cleanUps.push(broker.stop);
  return { ...broker, secrets };
}

async function canConnect(url: string, options: IClientOptions): Promise<boolean> {
  const client = await mqtt
    .connectAsync(url, { reconnectPeriod: 0, connectTimeout: 5000, ...options }, false)
    .catch(() => null);
  await client?.endAsync();
  return client !== null;
}

test('Mosquitto of Kubernetes: a password changes while the broker runs: only the new password is accepted', async () => {
  const broker = await brokerOf('mosquitto');
  const child = broker.spawn();
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
      const [code] = await once(broker.spawn(programs), 'close');
      expect([code, broker.log()]).toEqual([1, expect.stringContaining('could not hash the passwords')]);
      expect(broker.log()).toContain('the broker is not started');
      expect(readdirSync(join(directory, 'run'))).toEqual([]);
    },
  );

  test('Mosquitto of Kubernetes: mosquitto_passwd fails while the broker runs: the error is logged, and the old passwords stay valid', async () => {
    const broker = await brokerOf('mosquitto');
    breaks('exit 1');
    rmSync(brokenFile);
    broker.spawn(programs);
    const url = `mqtt://127.0.0.1:${broker.port}`;
    await until(() => canConnect(url, { username: 'devices', password: 'devices' }));
    writeFileSync(brokenFile, '');
    writeFileSync(join(broker.secrets, 'mqtt_device_password'), 'another');
    await until(() => broker.log().includes('goes on with the old ones'));
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
    copyFileSync(key, join(broker.secrets, 'server.key'));
    copyFileSync(cert, join(broker.secrets, 'server.pem'));
    return authority;
  };
  const ca = await certify(false);
  const child = broker.spawn();
  const account = { username: 'devices', password: 'devices' };
  const secure = `mqtts://localhost:${broker.tlsPort}`;
  await until(() => canConnect(secure, { ...account, ca }));
  expect(await canConnect(`mqtt://localhost:${broker.tlsPort}`, account)).toBe(false);

  const serialNumber = async () => {
    const socket = connect({ port: broker.tlsPort, host: 'localhost', ca });
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
