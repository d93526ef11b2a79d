import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { INSTALLATION_RIGHTS } from '../../../../api/features/credentials/command/mosquitto.ts';
import { RIGHTS } from '../../../../api/features/sparkplug/rights.ts';
import {
  isAccepted,
  useMosquittoAccounts,
} from '../../../support/features/credentials/mosquitto-accounts.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem();
const { connect } = useMosquittoAccounts(system, { accounts: { 'plant/edge': [] } });

test('Mosquitto: Sparkplug edge node: may publish for itself and its devices, and may not publish commands', async () => {
  const client = await connect('plant/edge');
  for (const topic of ['spBv1.0/plant/NBIRTH/edge', 'spBv1.0/plant/DDATA/edge/press']) {
    expect(await isAccepted(client, topic)).toBe(true);
  }
  expect(await isAccepted(client, 'spBv1.0/plant/NCMD/edge')).toBe(false);
});

test('Mosquitto: account of Millrace itself: the generated ACL and infra/mosquitto/mosquitto.acl grant the same permissions', () => {
  const lines = readFileSync('infra/mosquitto/mosquitto.acl', 'utf8').split('\n');
  const begin = lines.indexOf('user millrace') + 1;
  const permissions = lines.slice(begin, lines.indexOf('', begin)).filter((line) => !line.startsWith('#'));
  const rights = [...INSTALLATION_RIGHTS, ...RIGHTS.installation.map((right) => `topic ${right}`)];
  expect(rights.sort()).toEqual(permissions.sort());
});
