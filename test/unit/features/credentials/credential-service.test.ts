import { expect, test } from '@jest/globals';
import { createCredentialService } from '../../../../api/features/credentials/credential-service.ts';
import { isSecret } from '../../../../api/features/credentials/secret.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { createMemoryCredentials } from '../../../support/features/credentials/index.ts';

const NOW = 1_795_000_000_000;
const identify = (name: string) => identifyDevice(name) as Identity;
const idOf = (name: string) => identify(name).id;

async function start() {
  const store = await createMemoryCredentials();
  const notified: string[] = [];
  const credentialService = createCredentialService({
    store,
    clock: () => NOW,
    installation: 'installation',
    onChange: async (device) => void notified.push(device),
  });
  return {
    credentialService,
    notified,
    find: (name: string) => store.find(identify(name).bytes),
  };
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `device ${at}`);

test('Issue a credential: new account: the secret is returned once and only its hash is stored', async () => {
  const { credentialService, find, notified } = await start();
  const { secret, credential } = await credentialService.issue({
    account: 'pump',
    devices: ['a', 'b', 'a'],
  });
  expect(credential).toMatchObject({ deviceId: idOf('pump'), account: 'pump', devices: ['a', 'b'] });
  expect(credential).toMatchObject({ issuedAt: NOW, changedAt: NOW });
  const row = await find('pump');
  expect(row).toMatchObject(credential);
  expect(await isSecret(secret, String(row?.hash))).toBe(true);
  expect(JSON.stringify(row)).not.toContain(secret);
  expect(notified).toEqual([]);
});

test('Issue a credential: 1,000 further devices: accepted; 1,001: refused with bad_id, and nothing is written', async () => {
  const { credentialService, find } = await start();
  await credentialService.issue({ account: 'gateway', devices: names(1000) });
  expect((await find('gateway'))?.devices).toHaveLength(1000);
  await expect(credentialService.issue({ account: 'larger', devices: names(1001) })).rejects.toMatchObject({
    code: 'bad_id',
    message: expect.stringContaining('1000'),
  });
  expect(await find('larger')).toBeNull();
});

test.each([
  ['no account name', { account: '' }, 'bad_id'],
  ['an account name of 129 bytes', { account: 'x'.repeat(129) }, 'bad_id'],
  ['a further device without a name', { account: 'pump', devices: ['a', ''] }, 'bad_id'],
  ['the account name of the installation', { account: 'installation' }, 'credential_exists'],
])('Issue a credential: request with %s: refused', async (_, wanted, code) => {
  const { credentialService, find } = await start();
  await expect(credentialService.issue(wanted)).rejects.toMatchObject({ code });
  expect(await find('pump')).toBeNull();
});

test('Issue a credential: the account already has one, by name or by id: credential_exists, and the old secret stays valid', async () => {
  const { credentialService, find } = await start();
  const { secret } = await credentialService.issue({ account: 'pump' });
  for (const account of ['pump', idOf('pump')]) {
    await expect(credentialService.issue({ account })).rejects.toMatchObject({ code: 'credential_exists' });
  }
  expect(await isSecret(secret, String((await find('pump'))?.hash))).toBe(true);
});

test('Issue a credential: the account was revoked: a new credential with the new list of devices is stored', async () => {
  const { credentialService, find } = await start();
  await credentialService.issue({ account: 'pump', devices: ['a'] });
  await credentialService.revoke('pump');
  await credentialService.issue({ account: 'pump', devices: ['b'] });
  expect((await find('pump'))?.devices).toEqual(['b']);
});

test('Rotate a credential: it is valid: the secret changes, the list of devices stays, and onChange is called', async () => {
  const { credentialService, find, notified } = await start();
  const first = await credentialService.issue({ account: 'pump', devices: ['a'] });
  const second = await credentialService.rotate(idOf('pump'));
  const hash = String((await find('pump'))?.hash);
  expect([await isSecret(first.secret, hash), await isSecret(second.secret, hash)]).toEqual([false, true]);
  expect(second.credential).toMatchObject({ account: 'pump', devices: ['a'], issuedAt: NOW });
  expect(notified).toEqual([idOf('pump')]);
});

test('Revoke a credential: it is valid: the secret becomes invalid, and onChange is called', async () => {
  const { credentialService, find, notified } = await start();
  const { secret } = await credentialService.issue({ account: 'pump' });
  await credentialService.revoke('pump');
  expect(await isSecret(secret, String((await find('pump'))?.hash))).toBe(false);
  expect(notified).toEqual([idOf('pump')]);
});

test('Rotate or revoke a credential: the account has none, or a revoked one: not_found, and nothing is written', async () => {
  const { credentialService, find, notified } = await start();
  await credentialService.issue({ account: 'revoked' });
  await credentialService.revoke('revoked');
  notified.length = 0;
  for (const account of ['revoked', 'never']) {
    await expect(credentialService.rotate(account)).rejects.toMatchObject({ code: 'not_found' });
    await expect(credentialService.revoke(account)).rejects.toMatchObject({ code: 'not_found' });
  }
  expect((await find('revoked'))?.hash).toBe('');
  expect(await find('never')).toBeNull();
  expect(notified).toEqual([]);
});

test('Forget a device: own account and gateways: its own is revoked, gateways lose the device, other accounts stay', async () => {
  const { credentialService, find, notified } = await start();
  await credentialService.issue({ account: 'sheep' });
  await credentialService.issue({ account: 'by name', devices: ['goat', 'sheep'] });
  await credentialService.issue({ account: 'by id', devices: [idOf('sheep')] });
  await credentialService.issue({ account: 'other', devices: ['goat'] });
  const rotated = await find('by name');
  expect(await credentialService.forget(identify('sheep'))).toBe(true);
  expect((await find('sheep'))?.hash).toBe('');
  expect(await find('by name')).toMatchObject({ devices: ['goat'], hash: rotated?.hash });
  expect((await find('by id'))?.devices).toEqual([]);
  expect((await find('other'))?.devices).toEqual(['goat']);
  expect(notified.sort()).toEqual([idOf('sheep'), idOf('by name'), idOf('by id')].sort());
});

test.each([
  ['only its own account', true, { account: 'sheep' }],
  ['only a gateway account', true, { account: 'gateway', devices: ['sheep'] }],
  ['no account', false, { account: 'gateway', devices: ['goat'] }],
])('Forget a device: %s could publish for it: forget() returns %p', async (_, expected, wanted) => {
  const { credentialService } = await start();
  await credentialService.issue(wanted);
  expect(await credentialService.forget(identify('sheep'))).toBe(expected);
  expect(await credentialService.forget(identify('sheep'))).toBe(false);
});

test('Forget a device: another process revokes a gateway account meanwhile: the row of the gateway is not overwritten', async () => {
  const store = await createMemoryCredentials();
  const other = createCredentialService({ store, clock: () => NOW });
  const credentialService = createCredentialService({
    clock: () => NOW,
    store: {
      ...store,
      async page(page) {
        const listed = await store.page(page);
        for (const { account } of listed.rows) await other.revoke(account);
        return listed;
      },
    },
  });
  await other.issue({ account: 'gateway', devices: ['sheep'] });
  expect(await credentialService.forget(identify('sheep'))).toBe(false);
  expect(await store.find(identify('gateway').bytes)).toMatchObject({ hash: '', devices: ['sheep'] });
});

test('Forget a device: another process removes the device from a gateway account meanwhile: nothing is written', async () => {
  const store = await createMemoryCredentials();
  const other = createCredentialService({ store, clock: () => NOW });
  const notified: string[] = [];
  const credentialService = createCredentialService({
    clock: () => NOW,
    onChange: async (device) => void notified.push(device),
    store: {
      ...store,
      async page(page) {
        const listed = await store.page(page);
        await other.forget(identify('sheep'));
        return listed;
      },
    },
  });
  await other.issue({ account: 'gateway', devices: ['sheep', 'goat'] });
  expect(await credentialService.forget(identify('sheep'))).toBe(false);
  expect(await store.find(identify('gateway').bytes)).toMatchObject({ devices: ['goat'] });
  expect(notified).toEqual([]);
});

test('Issue or rotate a credential: the Cassandra driver repeats an applied write: the returned secret is valid', async () => {
  const store = await createMemoryCredentials();
  const replace: typeof store.replace = async (...row) =>
    (await store.replace(...row)) && store.replace(...row);
  const credentialService = createCredentialService({ store: { ...store, replace }, clock: () => NOW });
  for (const issued of [
    await credentialService.issue({ account: 'pump' }),
    await credentialService.rotate('pump'),
  ]) {
    expect(issued.credential.account).toBe('pump');
  }
  const { secret } = await credentialService.rotate('pump');
  expect(await isSecret(secret, String((await store.find(identify('pump').bytes))?.hash))).toBe(true);
});

test('List credentials: several pages: every credential is listed except revoked ones', async () => {
  const store = await createMemoryCredentials();
  const small = {
    ...store,
    page: (page: Parameters<typeof store.page>[0]) => store.page({ ...page, limit: 2 }),
  };
  const credentialService = createCredentialService({ store: small, clock: () => NOW });
  for (const account of names(7)) await credentialService.issue({ account });
  await credentialService.revoke('device 3');
  const listed = [];
  for await (const { account } of credentialService.all()) listed.push(account);
  expect(listed.sort()).toEqual(names(7).filter((name) => name !== 'device 3'));
});
