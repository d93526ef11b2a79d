import { chmodSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { identifyDevice } from '../../../../schema/ids.ts';
import { whenClosed } from '../../../support/features/credentials/index.ts';
import {
  isAccepted,
  NOT_AUTHORIZED,
  useMosquittoAccounts,
} from '../../../support/features/credentials/mosquitto-accounts.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const system = useTestSystem();
const mosquitto = useMosquittoAccounts(system, {
  accounts: {
    pump: [],
    'Ofen 3': [],
    '+': [],
    'plant/edge': [],
    'co:lon': [],
    '#hash': [],
    gateway: ['sheep', '+', '#'],
    gone: [],
  },
  async prepare(files) {
    await mosquitto.credentials.credentialService.revoke('gone');
    writeFileSync(join(files, 'passwords'), 'old', { mode: 0o604 });
  },
});
const { connect, credentials, secrets, write } = mosquitto;

const idOf = (device: string) => String(identifyDevice(device)?.id);
const measurements = (device: string) => `iot/v1/${device}/measurements`;

test('Password and ACL files for Mosquitto: created: only their owner may read them; the output lists the accounts that are left out', () => {
  const files = mosquitto.files();
  const written = mosquitto.written();
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

test('Mosquitto: rotation and SIGHUP: the old secret is refused, and its connection is closed', async () => {
  const client = await connect('Ofen 3');
  const other = await connect('pump');
  const closed = whenClosed(client);
  const { secret } = await credentials.credentialService.rotate('Ofen 3');
  await write();
  mosquitto.broker().reload();
  await closed;
  await expect(connect('Ofen 3')).rejects.toMatchObject({ code: NOT_AUTHORIZED });
  await connect('Ofen 3', secret);
  expect(await isAccepted(other, measurements('pump'))).toBe(true);
});

test('Password and ACL files for Mosquitto: written again: the files keep their owner and group', async () => {
  const files = mosquitto.files();
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
  const files = mosquitto.files();
  rmSync(join(files, 'acl'));
  await write();
  expect(statSync(join(files, 'acl')).uid).toBe(statSync(files).uid);
  expect(statSync(join(files, 'acl')).mode & 0o777).toBe(0o600);
});
