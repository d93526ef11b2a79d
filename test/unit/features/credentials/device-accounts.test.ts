import { expect, test } from '@jest/globals';
import pino from 'pino';
import { Accounts } from '../../../../api/access/accounts.ts';
import { DeviceAccounts } from '../../../../api/features/credentials/device-accounts.ts';
import { hashSecret } from '../../../../api/features/credentials/secret.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { createMemoryCredentials } from '../../../support/features/credentials/index.ts';

const NO_CREDENTIALS = { find: async () => null, writeTimes: async () => new Map() };

function start(store: ConstructorParameters<typeof DeviceAccounts>[0]['store'] = NO_CREDENTIALS) {
  const accounts = new DeviceAccounts({ store, everyMs: 60_000, logger: pino({ level: 'silent' }) });
  const rejected: string[] = [];
  const signIn = (name: string, password: string, gone = new AbortController().signal) =>
    accounts.signIn(name, Buffer.from(password), {
      address: '192.0.2.1',
      gone,
      reject: () => rejected.push(name),
    });
  return { accounts, signIn, rejected };
}

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
  const { signIn } = start({ find: async () => ({ ...credential }), writeTimes: async () => new Map() });
  const first = await signIn('gateway', 'secret');
  expect(await signIn('gateway', 'secret')).toBe(first);
  credential.devices = ['a'];
  credential.writtenAt = 2;
  const second = await signIn('gateway', 'secret');
  expect([...(second?.speaksFor ?? [])]).toEqual(['gateway', 'a']);
  expect([...(first?.speaksFor ?? [])]).toEqual(['gateway', 'a', 'b']);
});

/** Creates a store with one valid credential. */
async function storeWith({ account, hash }: { account: string; hash?: string }) {
  const store = await createMemoryCredentials();
  const deviceId = String(identifyDevice(account)?.id);
  const secret = hash ?? (await hashSecret('secret'));
  await store.replace({ deviceId, account, hash: secret, devices: [], issuedAt: 1, changedAt: 1 }, null);
  return { store, deviceId };
}

test('Device sign-in: right secret: returns the account of the device; other secrets: refused', async () => {
  const { store, deviceId } = await storeWith({ account: 'pump' });
  const { signIn } = start(store);
  expect(await signIn('pump', 'secret')).toMatchObject({ isInstallation: false, name: 'pump', deviceId });
  for (const wrong of ['', 'Secret', 'secret ']) expect(await signIn('pump', wrong)).toBeNull();
});

test('Device sign-in: credential issued for the device name: sign-in with the device id is refused, and vice versa', async () => {
  const byName = await storeWith({ account: 'pump' });
  expect(await start(byName.store).signIn(byName.deviceId, 'secret')).toBeNull();
  const byId = await storeWith({ account: byName.deviceId });
  expect(await start(byId.store).signIn('pump', 'secret')).toBeNull();
});

test('Device sign-in: revoked account, unknown account or invalid name: refused', async () => {
  const { signIn } = start((await storeWith({ account: 'pump', hash: '' })).store);
  for (const name of ['pump', 'valve', '', 'x'.repeat(1000)])
    for (const secret of ['', 'secret']) expect(await signIn(name, secret)).toBeNull();
});

test('Device sign-in: the client has already disconnected: sign-in fails without a database query', async () => {
  let finds = 0;
  const find = async () => {
    finds++;
    return null;
  };
  const { signIn } = start({ ...NO_CREDENTIALS, find });
  expect(await signIn('pump', 'secret', AbortSignal.abort())).toBeNull();
  expect(finds).toBe(0);
  await signIn('pump', 'secret');
  expect(finds).toBe(1);
});

test('Device sign-in: 500 clients sign in at once: 64 database queries run at a time, the installation account need not wait', async () => {
  const answers: Array<() => void> = [];
  const find: () => Promise<null> = () => new Promise((resolve) => answers.push(() => resolve(null)));
  const { accounts, signIn } = start({ ...NO_CREDENTIALS, find });
  const all = Array.from({ length: 500 }, (_, at) => signIn(`stranger ${at}`, 'wrong'));
  const core = new Accounts({ auth: true, username: 'operator', password: 'right' });
  core.signInDevicesBy(accounts.signIn);
  const peer = { address: '192.0.2.2', gone: new AbortController().signal, reject: () => {} };
  expect(await core.signIn('operator', Buffer.from('right'), peer)).toMatchObject({ isInstallation: true });
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

const change = async (
  store: Awaited<ReturnType<typeof storeWith>>['store'],
  account: string,
  hash: string,
) => {
  const deviceId = String(identifyDevice(account)?.id);
  const next = { deviceId, account, hash, devices: [], issuedAt: 1, changedAt: 2 };
  expect(await store.replace(next, { changedAt: 1 })).toBe(true);
};

let isAvailable = true;

async function startConnected(accounts: string[]) {
  const store = await createMemoryCredentials();
  for (const account of accounts) {
    const deviceId = String(identifyDevice(account)?.id);
    const hash = await hashSecret('secret');
    await store.replace({ deviceId, account, hash, devices: [], issuedAt: 1, changedAt: 1 }, null);
  }
  const asked: string[][] = [];
  const started = start({
    find: store.find,
    writeTimes: async (devices) => {
      if (!isAvailable) throw new Error('no replica answers');
      asked.push(devices);
      const writeTimes = await store.writeTimes(devices);
      writeTimes.delete(String(identifyDevice('gone')?.id));
      return writeTimes;
    },
  });
  return { store, asked, ...started };
}

test('Account recheck: rotated, revoked or deleted credentials: only their connections are rejected', async () => {
  const names = ['same', 'rotated', 'revoked', 'gone'];
  const { store, asked, accounts, signIn, rejected } = await startConnected(names);
  for (const name of [...names, ...names]) await signIn(name, 'secret');
  await change(store, 'rotated', 'another');
  await change(store, 'revoked', '');
  await accounts.check();
  expect(rejected.sort()).toEqual(['gone', 'gone', 'revoked', 'revoked', 'rotated', 'rotated']);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toHaveLength(4);
});

test('Account recheck: for one device: other connections are not checked', async () => {
  const { asked, accounts, signIn, rejected } = await startConnected(['gone', 'pump']);
  await signIn('gone', 'secret');
  await signIn('pump', 'secret');
  await accounts.check(String(identifyDevice('pump')?.id));
  expect(rejected).toEqual([]);
  expect(asked).toEqual([[identifyDevice('pump')?.id]]);
});

test('Account recheck: the client has disconnected: it is not checked again', async () => {
  const { asked, accounts, signIn, rejected } = await startConnected(['gone']);
  const connection = new AbortController();
  await signIn('gone', 'secret', connection.signal);
  connection.abort();
  await accounts.check();
  expect({ asked, rejected }).toEqual({ asked: [[]], rejected: [] });
});

test('Account recheck: the database is unavailable: the connection stays, and the next check rejects it', async () => {
  const { store, accounts, signIn, rejected } = await startConnected(['pump']);
  await signIn('pump', 'secret');
  await change(store, 'pump', '');
  isAvailable = false;
  await accounts.check();
  expect(rejected).toEqual([]);
  isAvailable = true;
  await accounts.check();
  expect(rejected).toEqual(['pump']);
});
