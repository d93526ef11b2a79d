import { expect, test } from '@jest/globals';
import { createAccounts } from '../../../api/credentials/accounts.js';
import { createGuesses } from '../../../api/credentials/guesses.js';
import { hashSecret } from '../../../api/credentials/secret.js';
import { identifyDevice } from '../../../schema/ids.js';
import { until } from '../../support/until.js';

const MQTT = { auth: true, username: 'herd', password: 'the password of the herd' };
const HERE = { address: '192.0.2.1' };
const THERE = { address: '192.0.2.2' };

/** @param {Partial<Parameters<typeof createAccounts>[0]>} parts */
function start(parts = {}) {
  const accounts = createAccounts({
    store: { find: async () => null, stamps: async () => new Map() },
    mqtt: MQTT,
    ...parts,
  });
  /** @param {string} password @param {{ address: string }} from */
  const signIn = async (password, from) =>
    (await accounts.signIn(MQTT.username, Buffer.from(password), from)) !== null;
  return { accounts, signIn };
}

test('after ten wrong passwords in a minute the right one is told from them no more, at that address alone', async () => {
  const { signIn } = start();
  for (let at = 0; at < 9; at++) expect(await signIn(`guess ${at}`, HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(true);
  expect(await signIn('the tenth', HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(false);
  expect(await signIn(MQTT.password, THERE)).toBe(true);
});

test('and a minute after the first of them it is again, however many came meanwhile', async () => {
  const { signIn } = start({ guesses: createGuesses({ most: 1, withinMs: 200 }) });
  await signIn('wrong', HERE);
  expect(await signIn(MQTT.password, HERE)).toBe(false);
  await until(async () => (await signIn('wrong', THERE)) || (await signIn(MQTT.password, HERE)));
});

test('wrong passwords of devices are no guesses at it', async () => {
  const { accounts, signIn } = start();
  for (let at = 0; at < 100; at++) await accounts.signIn(`device ${at}`, Buffer.from('wrong'), HERE);
  expect(await signIn(MQTT.password, HERE)).toBe(true);
});

test('the rights of an account are worked out once for each credential', async () => {
  const { id } = /** @type {import('../../../schema/ids.js').Identity} */ (identifyDevice('gateway'));
  const credential = {
    deviceId: id,
    account: 'gateway',
    hash: await hashSecret('secret'),
    devices: ['a', 'b'],
    issuedAt: 1,
    changedAt: 1,
    stamp: 1,
  };
  const { accounts } = start({
    store: { find: async () => ({ ...credential }), stamps: async () => new Map() },
  });
  const signIn = () => accounts.signIn('gateway', Buffer.from('secret'), HERE);
  const first = await signIn();
  expect(await signIn()).toBe(first);
  credential.devices = ['a'];
  credential.stamp = 2;
  const second = await signIn();
  expect([...(second?.speaksFor ?? [])]).toEqual(['gateway', 'a']);
  expect([...(first?.speaksFor ?? [])]).toEqual(['gateway', 'a', 'b']);
});
