import { writeFileSync } from 'node:fs';
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
