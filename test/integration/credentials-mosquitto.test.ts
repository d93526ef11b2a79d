import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { INSTALLATION_RIGHTS } from '../../api/commands/credentials/mosquitto.ts';
import { identifyDevice } from '../../schema/ids.ts';
import { useCredentials, whenClosed } from '../support/credentials.ts';
import { type Mosquitto, startMosquitto } from '../support/mqtt/mosquitto.ts';
import { startCommand } from '../support/processes/api-process.ts';
import { useTestSystem } from '../support/system/use.ts';
import { until } from '../support/until.ts';

// MQTT 5, table 2-6: not authorized. Unlike MQTT 3.1.1, it has this code for a single message as well.
const NOT_AUTHORIZED = 135;

const MAPPINGS = `mappings:
  - { name: farm, topic: 'farm/{device}/up', values: [{ pointer: /v }] }
  - { name: other, topic: 'farm/{device}/down', skip: true }
  - { name: lines, topic: lines/+, device: { pointer: /id }, values: [{ pointer: /v }] }
`;

const system = useTestSystem();
const credentials = useCredentials(system);
let files: string;
let broker: Mosquitto;
const secrets: Record<string, string> = { operator: 'of the operator' };
const clients: MqttClient[] = [];
let written: { code: number | null; output: string };

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), 'millrace-credentials-'));
  for (const account of ['pump', 'Ofen 3', '+', 'plant/edge', 'co:lon', '#hash']) {
    secrets[account] = await credentials.issue(account);
  }
  secrets['gateway'] = await credentials.issue('gateway', ['sheep', '+', '#']);
  secrets['gone'] = await credentials.issue('gone');
  await credentials.credentialService.revoke('gone');
  writeFileSync(join(files, 'mappings.yaml'), MAPPINGS);
  writeFileSync(join(files, 'passwords'), 'old', { mode: 0o604 });
  written = await write();
  broker = await startMosquitto({ files });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.endAsync(true)));
  await broker?.remove();
  rmSync(files, { recursive: true, force: true });
});

async function write() {
  const settings = {
    ...system.databaseSettings,
    MQTT_USERNAME: 'operator',
    MQTT_PASSWORD: secrets['operator'],
    MQTT_MAPPINGS: join(files, 'mappings.yaml'),
    HOME_ASSISTANT_PREFIX: 'homeassistant',
  };
  return startCommand('api/commands/credentials/index.ts', settings, ['mosquitto', '--out', files]).ended;
}

async function connect(username: string, password: string | undefined = secrets[username]) {
  const options = { protocolVersion: 5 as const, reconnectPeriod: 0, username, password };
  const client = await mqtt.connectAsync(broker.url, options, false);
  client.on('error', () => {});
  clients.push(client);
  return client;
}

const isAccepted = (client: MqttClient, topic: string) =>
  client.publishAsync(topic, '[]', { qos: 1 }).then(
    () => true,
    ({ code }) => (code === NOT_AUTHORIZED ? false : code),
  );

const idOf = (device: string) => String(identifyDevice(device)?.id);
const measurements = (device: string) => `iot/v1/${device}/measurements`;

test('Password and ACL files for Mosquitto: created: only their owner may read them; the output lists the accounts that are left out', () => {
  expect(written.code).toBe(0);
  for (const name of ['passwords', 'acl']) expect(statSync(join(files, name)).mode & 0o777).toBe(0o600);
  expect(written.output).toContain(`chown -R mosquitto: ${files}`);
  expect(written.output).toContain('co:lon: left out.');
  expect(written.output).toContain('#hash: left out.');
  expect(written.output).toContain('5 devices in');
  const passwords = readFileSync(join(files, 'passwords'), 'utf8');
  expect(passwords).not.toMatch(/gone|colon|hash:/);
  for (const secret of Object.values(secrets)) expect(passwords).not.toContain(secret);
});

test('Mosquitto with generated files: sign-in with right and wrong secrets: only the right secret is accepted', async () => {
  await connect('pump');
  for (const [account, password] of [
    ['pump', 'wrong'],
    ['nobody', 'wrong'],
    ['gone', secrets['gone']],
    ['pump', secrets['gateway']],
  ]) {
    await expect(connect(String(account), password)).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  }
});

test.each([
  ['pump', ['pump', idOf('pump')], ['Ofen 3', idOf('Ofen 3'), 'pump 2']],
  ['Ofen 3', ['Ofen 3', idOf('Ofen 3')], ['pump', 'Ofen']],
  ['+', [idOf('+')], ['pump', idOf('pump')]],
  ['gateway', ['gateway', 'sheep', idOf('sheep'), idOf('+')], ['pump', idOf('pump')]],
  ['plant/edge', [idOf('plant/edge')], ['plant', 'edge']],
])(
  'Mosquitto with generated files: account %s: may publish for the devices %j, and not for %j',
  async (account, own, others) => {
    for (const device of own) {
      expect(await isAccepted(await connect(account), measurements(device))).toBe(true);
    }
    for (const topic of [...others.map(measurements), 'iot/live/x', 'spBv1.0/plant/NDATA/other']) {
      expect(await isAccepted(await connect(account), topic)).toBe(false);
    }
  },
);

test('Mosquitto: mapped topics: device publishes on its own topics only, and the installation account receives all', async () => {
  const operator = await connect('operator');
  const received: string[] = [];
  operator.on('message', (topic) => received.push(topic));
  await operator.subscribeAsync(['farm/+/up', 'lines/+'], { qos: 1 });
  for (const [account, topic, isAllowed] of [
    ['pump', 'farm/pump/up', true],
    ['pump', `farm/${idOf('pump')}/up`, true],
    ['gateway', 'farm/sheep/up', true],
    ['pump', 'farm/sheep/up', false],
    ['pump', 'farm/pump/down', false],
    ['pump', 'lines/1', false],
  ] as const) {
    expect([topic, await isAccepted(await connect(account), topic)]).toEqual([topic, isAllowed]);
  }
  await until(() => received.length === 3);
  expect(received).toEqual(['farm/pump/up', `farm/${idOf('pump')}/up`, 'farm/sheep/up']);
});

test('Mosquitto: Home Assistant topics: the installation account publishes and receives them; a device may not publish', async () => {
  const [operator, pump] = [await connect('operator'), await connect('pump')];
  const received: string[] = [];
  operator.on('message', (topic) => received.push(topic));
  await operator.subscribeAsync('homeassistant/#', { qos: 1 });
  const topic = 'homeassistant/sensor/a/b/config';
  expect(await isAccepted(pump, topic)).toBe(false);
  expect(await isAccepted(operator, topic)).toBe(true);
  await until(() => received.length === 1);
  expect(received).toEqual([topic]);
});

test('Mosquitto: Sparkplug edge node: may publish for itself and its devices, and may not publish commands', async () => {
  const client = await connect('plant/edge');
  for (const topic of ['spBv1.0/plant/NBIRTH/edge', 'spBv1.0/plant/DDATA/edge/press']) {
    expect(await isAccepted(client, topic)).toBe(true);
  }
  expect(await isAccepted(client, 'spBv1.0/plant/NCMD/edge')).toBe(false);
});

test('Mosquitto: subscription to iot/#: a device receives only its own topics, the installation account all', async () => {
  const [pump, plus, operator] = [await connect('pump'), await connect('+'), await connect('operator')];
  const received: string[] = [];
  for (const [name, client] of Object.entries({ pump, plus, operator })) {
    client.on('message', (topic) => received.push(`${name} ${topic}`));
    await client.subscribeAsync('iot/#', { qos: 1 });
  }
  for (const topic of ['iot/live/x', measurements('sheep'), 'iot/v1/pump/commands']) {
    expect(await isAccepted(operator, topic)).toBe(true);
  }
  await until(
    () =>
      received.includes('operator iot/v1/pump/commands') && received.includes('pump iot/v1/pump/commands'),
  );
  expect(received.filter((line) => !line.startsWith('operator '))).toEqual(['pump iot/v1/pump/commands']);
});

test('Mosquitto: account of Millrace itself: the generated ACL and infra/mosquitto/mosquitto.acl grant the same permissions', () => {
  const lines = readFileSync('infra/mosquitto/mosquitto.acl', 'utf8').split('\n');
  const begin = lines.indexOf('user millrace') + 1;
  const permissions = lines.slice(begin, lines.indexOf('', begin)).filter((line) => !line.startsWith('#'));
  expect([...INSTALLATION_RIGHTS].sort()).toEqual(permissions.sort());
});

test('Mosquitto: rotation and SIGHUP: the old secret is refused, and its connection is closed', async () => {
  const client = await connect('Ofen 3');
  const other = await connect('pump');
  const closed = whenClosed(client);
  const { secret } = await credentials.credentialService.rotate('Ofen 3');
  await write();
  broker.reload();
  await closed;
  await expect(connect('Ofen 3')).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  await connect('Ofen 3', secret);
  expect(await isAccepted(other, measurements('pump'))).toBe(true);
});

test('Password and ACL files for Mosquitto: written again: the files keep their owner and group', async () => {
  const both = ['passwords', 'acl'].map((name) => join(files, name));
  // Only root can change the owner of a file, so any other user runs this test with its own ids.
  const [owner, group] = process.getuid?.() === 0 ? [4711, 4712] : [process.getuid?.(), process.getgid?.()];
  for (const path of [files, ...both]) chownSync(path, Number(owner), Number(group));
  for (const path of both) chmodSync(path, 0o644);
  const { code, output } = await write();
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining('chown') });
  for (const path of both) {
    const { uid, gid, mode } = statSync(path);
    expect([uid, gid, mode & 0o777]).toEqual([owner, group, 0o640]);
  }
});

test('Password and ACL files for Mosquitto: the ACL file is missing: the new file belongs to the owner of its directory', async () => {
  rmSync(join(files, 'acl'));
  await write();
  expect(statSync(join(files, 'acl')).uid).toBe(statSync(files).uid);
  expect(statSync(join(files, 'acl')).mode & 0o777).toBe(0o600);
});
