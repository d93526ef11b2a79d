import { describe, expect, test } from '@jest/globals';
import { Accounts, FailedLogins } from '../../../../api/access/credentials/accounts.ts';
import { hashSecret } from '../../../../api/access/credentials/secret.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { createMemoryCredentials } from '../../../support/memory-store/index.ts';

const MQTT = { auth: true, username: 'installation', password: 'the password of the installation' };
const HERE = { address: '192.0.2.1' };
const THERE = { address: '192.0.2.2' };

function start(parts: Partial<ConstructorParameters<typeof Accounts>[0]> = {}) {
  const accounts = new Accounts({
    store: { find: async () => null, writeTimes: async () => new Map() },
    mqtt: MQTT,
    ...parts,
  });
  const signIn = async (password: string, from: { address: string }) =>
    (await accounts.signIn(MQTT.username, Buffer.from(password), from)) !== null;
  return { accounts, signIn };
}

test('Installation account: ten wrong passwords from one IP address: this address alone is refused, even with the right password', async () => {
  const { signIn } = start();
  for (let at = 0; at < 9; at++) expect(await signIn(`guess ${at}`, HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(true);
  expect(await signIn('the tenth', HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(false);
  expect(await signIn(MQTT.password, THERE)).toBe(true);
});

test('Installation account: blocked after ten wrong passwords: one minute after the first of them, the right password is accepted', async () => {
  let now = 0;
  const { signIn } = start({ failedLogins: new FailedLogins({ clock: () => now }) });
  now = 1;
  for (let at = 0; at < 10; at++) await signIn(`guess ${at}`, HERE);
  now = 60_000;
  expect(await signIn('wrong', HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(false);
  now = 60_002;
  expect(await signIn(MQTT.password, HERE)).toBe(true);
});

test('Failed logins: 100 wrong passwords of device accounts: the installation account still signs in from the same address', async () => {
  const { accounts, signIn } = start();
  for (let at = 0; at < 100; at++) await accounts.signIn(`device ${at}`, Buffer.from('wrong'), HERE);
  expect(await signIn(MQTT.password, HERE)).toBe(true);
});

test('Account permissions: several sign-ins: permissions are calculated once per version of the credential', async () => {
  const { id } = identifyDevice('gateway') as Identity;
  const credential = {
    deviceId: id,
    account: 'gateway',
    hash: await hashSecret('secret'),
    devices: ['a', 'b'],
    issuedAt: 1,
    changedAt: 1,
    writtenAt: 1,
  };
  const { accounts } = start({
    store: { find: async () => ({ ...credential }), writeTimes: async () => new Map() },
  });
  const signIn = () => accounts.signIn('gateway', Buffer.from('secret'), HERE);
  const first = await signIn();
  expect(await signIn()).toBe(first);
  credential.devices = ['a'];
  credential.writtenAt = 2;
  const second = await signIn();
  expect([...(second?.speaksFor ?? [])]).toEqual(['gateway', 'a']);
  expect([...(first?.speaksFor ?? [])]).toEqual(['gateway', 'a', 'b']);
});

describe('Sign-in without MQTT_AUTH', () => {
  test('Sign-in: MQTT_AUTH is off: any client has all permissions, and the database is not queried', async () => {
    const { accounts } = start({
      mqtt: { auth: false, username: MQTT.username, password: MQTT.password },
      store: { find: () => Promise.reject(new Error('looked up')), writeTimes: async () => new Map() },
    });
    for (const [name, password] of [[], ['installation', 'wrong'], ['pump', '']]) {
      const account = await accounts.signIn(name, password === undefined ? undefined : Buffer.from(password));
      expect(account).toMatchObject({ isInstallation: true, name: '' });
    }
  });
});

describe('Sign-in: the account of the installation', () => {
  test.each([
    ['neither a name nor a password', { username: undefined, password: undefined }],
    ['no name', { username: undefined, password: '' }],
    ['no password', { username: 'installation', password: undefined }],
    ['an empty password', { username: 'installation', password: '' }],
    ['an empty name', { username: '', password: 'secret' }],
  ])('Installation account: %s is set: nobody signs in as the installation', async (_, settings) => {
    const { accounts } = start({ mqtt: { auth: true, ...settings } });
    for (const name of ['installation', '', undefined]) {
      for (const password of ['', 'secret', undefined]) {
        const given = password === undefined ? undefined : Buffer.from(password);
        expect(await accounts.signIn(name, given, HERE)).toBeNull();
      }
    }
  });

  test('Installation account: right password: the right account name gets all permissions, a wrong account name is refused', async () => {
    const { accounts } = start();
    const password = Buffer.from(MQTT.password);
    expect(await accounts.signIn('installation', password)).toMatchObject({
      isInstallation: true,
      name: 'installation',
    });
    for (const name of ['Installation', 'installation ', '', undefined]) {
      expect(await accounts.signIn(name, password, HERE)).toBeNull();
    }
  });
});

/** Creates a store with one valid credential. */
async function storeWith({ account, hash }: { account: string; hash?: string }) {
  const store = await createMemoryCredentials();
  const deviceId = String(identifyDevice(account)?.id);
  const secret = hash ?? (await hashSecret('secret'));
  await store.replace({ deviceId, account, hash: secret, devices: [], issuedAt: 1, changedAt: 1 }, null);
  return { store, deviceId };
}

describe('Sign-in: a device', () => {
  test('Device sign-in: the right secret returns the account of the device, any other secret is refused', async () => {
    const { store, deviceId } = await storeWith({ account: 'pump' });
    const { accounts } = start({ store });
    expect(await accounts.signIn('pump', Buffer.from('secret'), HERE)).toMatchObject({
      isInstallation: false,
      name: 'pump',
      deviceId,
    });
    for (const wrong of ['', 'Secret', 'secret ', undefined]) {
      const given = wrong === undefined ? undefined : Buffer.from(wrong);
      expect(await accounts.signIn('pump', given, HERE)).toBeNull();
    }
  });

  test('Device sign-in: credential issued for the device name: sign-in with the device id is refused, and vice versa', async () => {
    const byName = await storeWith({ account: 'pump' });
    expect(
      await start({ store: byName.store }).accounts.signIn(byName.deviceId, Buffer.from('secret')),
    ).toBeNull();
    const byId = await storeWith({ account: byName.deviceId });
    expect(await start({ store: byId.store }).accounts.signIn('pump', Buffer.from('secret'))).toBeNull();
  });

  test('Device sign-in: a revoked account, an unknown account or an invalid name is refused', async () => {
    const { store } = await storeWith({ account: 'pump', hash: '' });
    const { accounts } = start({ store });
    for (const name of ['pump', 'valve', '', 'x'.repeat(1000)]) {
      for (const secret of ['', 'secret']) {
        expect(await accounts.signIn(name, Buffer.from(secret), HERE)).toBeNull();
      }
    }
  });

  test('Device sign-in: the client has already disconnected: sign-in fails without a database query', async () => {
    let finds = 0;
    const find = async () => {
      finds++;
      return null;
    };
    const { accounts } = start({ store: { find, writeTimes: async () => new Map() } });
    const signIn = (gone: AbortSignal) => accounts.signIn('pump', Buffer.from('secret'), { ...HERE, gone });
    expect(await signIn(AbortSignal.abort())).toBeNull();
    expect(finds).toBe(0);
    await signIn(new AbortController().signal);
    expect(finds).toBe(1);
  });

  test('Device sign-in: 500 clients sign in at once: 64 database queries run at a time, the installation account need not wait', async () => {
    const answers: Array<() => void> = [];
    const find: () => Promise<null> = () => new Promise((resolve) => answers.push(() => resolve(null)));
    const { accounts, signIn } = start({ store: { find, writeTimes: async () => new Map() } });
    const all = Array.from({ length: 500 }, (_, at) =>
      accounts.signIn(`stranger ${at}`, Buffer.from('wrong'), HERE),
    );
    expect(await signIn(MQTT.password, THERE)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toHaveLength(64);
    const isOver = Promise.all(all);
    let answered = 0;
    while (answered < 500) {
      while (answers[answered]) answers[answered++]?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set(await isOver)).toEqual(new Set([null]));
  });
});

test('Account recheck: rotated, revoked or deleted credentials: only their signed-in accounts are reported as outdated', async () => {
  const store = await createMemoryCredentials();
  const signedIn = [];
  for (const account of ['same', 'rotated', 'revoked', 'gone']) {
    const deviceId = String(identifyDevice(account)?.id);
    const hash = await hashSecret('secret');
    await store.replace({ deviceId, account, hash, devices: [], issuedAt: 1, changedAt: 1 }, null);
    signedIn.push(await start({ store }).accounts.signIn(account, Buffer.from('secret')));
  }
  const { accounts } = start({
    store: {
      find: store.find,
      writeTimes: async (devices) => {
        expect(devices).toHaveLength(new Set(devices).size);
        const writeTimes = await store.writeTimes(devices);
        writeTimes.delete(String(identifyDevice('gone')?.id));
        return writeTimes;
      },
    },
  });
  signedIn.push(await accounts.signIn(MQTT.username, Buffer.from(MQTT.password)));
  for (const [account, hash] of [
    ['rotated', 'another'],
    ['revoked', ''],
  ]) {
    const deviceId = String(identifyDevice(String(account))?.id);
    const next = {
      deviceId,
      account: String(account),
      hash: String(hash),
      devices: [],
      issuedAt: 1,
      changedAt: 2,
    };
    expect(await store.replace(next, { changedAt: 1 })).toBe(true);
  }
  const connected = signedIn.flatMap((account) => account ?? []);
  expect(connected).toHaveLength(5);
  const outdated = await accounts.outdated([...connected, ...connected]);
  expect([...outdated].map(({ name }) => name)).toEqual(['rotated', 'revoked', 'gone']);
});
