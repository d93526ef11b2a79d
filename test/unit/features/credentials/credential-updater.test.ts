import { expect, test } from '@jest/globals';
import {
  createCredentialUpdater,
  type Wanted,
} from '../../../../api/features/credentials/credential-service.ts';
import type { CredentialStore } from '../../../../api/features/credentials/store.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { createMemoryCredentials } from '../../../support/features/credentials/index.ts';

const NOW = 1_795_000_000_000;
const { id: deviceId, bytes: DEVICE } = identifyDevice('pump') as Identity;

const wanted = (other?: Partial<Wanted>): Wanted => ({
  deviceId,
  account: 'pump',
  hash: 'first',
  devices: [],
  ...other,
});

async function start({
  clock = () => NOW,
  replaces = (replace) => replace(),
}: {
  clock?: () => number;
  replaces?: (replace: () => Promise<boolean>, count: number) => Promise<boolean>;
} = {}) {
  const memory = await createMemoryCredentials();
  const notified: string[] = [];
  const calls: string[] = [];
  let count = 0;
  const change = createCredentialUpdater({
    clock,
    store: {
      async find(device) {
        calls.push('find');
        return memory.find(device);
      },
      replace: (credential, before) => {
        calls.push('replace');
        return replaces(() => memory.replace(credential, before), ++count);
      },
    },
    onChange: async (device) => void notified.push(device),
  });
  return { change, memory, notified, calls };
}

test.each([
  ['has advanced', NOW + 5, NOW + 5],
  ['has not advanced', NOW, NOW + 1],
  ['was set back', NOW - 1000, NOW + 1],
])('Credential updater: the clock %s: a change increases changedAt only', async (_, later, changedAt) => {
  let now = NOW;
  const { change } = await start({ clock: () => now });
  await change(DEVICE, () => wanted());
  now = later;
  expect(await change(DEVICE, (before) => ({ ...wanted(before ?? {}), hash: 'second' }))).toMatchObject({
    issuedAt: NOW,
    changedAt,
  });
});

test.each([
  ['rotated', { hash: 'second' }],
  ['revoked', { hash: '' }],
  ['given another list of devices', { devices: ['a'] }],
])('Credential updater: a valid credential is %s: onChange is called once', async (_, other) => {
  const { change, notified } = await start();
  await change(DEVICE, () => wanted());
  expect(notified).toEqual([]);
  await change(DEVICE, () => wanted(other));
  expect(notified).toEqual([deviceId]);
});

test('Credential updater: a revoked credential becomes valid again: onChange is not called', async () => {
  const { change, notified } = await start();
  await change(DEVICE, () => wanted({ hash: '' }));
  await change(DEVICE, () => wanted());
  expect(notified).toEqual([]);
});

test('Credential updater: the change returns the same credential: onChange is not called, and nothing is written', async () => {
  const { change, notified, calls } = await start();
  await change(DEVICE, () => wanted());
  calls.length = 0;
  expect(await change(DEVICE, (before) => before)).toMatchObject(wanted());
  expect(await change(DEVICE, () => null)).toMatchObject(wanted());
  expect(calls).toEqual(['find', 'find']);
  expect(notified).toEqual([]);
});

test('Credential updater: the database answer to a revocation is lost, a read finds it applied: onChange is called', async () => {
  // The driver repeats the request. The repeat is not applied, because the first request already was.
  const { change, notified } = await start({
    replaces: async (replace, count) => (await replace()) && count !== 2,
  });
  await change(DEVICE, () => wanted());
  await change(DEVICE, (before) => (before?.hash ? { ...before, hash: '' } : before));
  expect(notified).toEqual([deviceId]);
});

test('Credential updater: another process changes the row first: the updater repeats read and write until it succeeds', async () => {
  const seen: Array<string | undefined> = [];
  let store: CredentialStore;
  const { change, memory, calls } = await start({
    async replaces(replace, count) {
      const before = await store.find(DEVICE);
      const other = { ...wanted(), hash: `other ${count}`, issuedAt: 1, changedAt: NOW + count };
      if (count < 3) await store.replace(other, before);
      return replace();
    },
  });
  store = memory;
  const became = await change(DEVICE, (before) => {
    seen.push(before?.hash);
    return { ...wanted(before ?? {}), hash: `${before?.hash} and mine` };
  });
  expect(seen).toEqual([undefined, 'other 1', 'other 2']);
  expect(calls).toEqual(['find', 'replace', 'find', 'replace', 'find', 'replace']);
  expect(became).toMatchObject({ hash: 'other 2 and mine', changedAt: NOW + 3 });
  expect(await memory.find(DEVICE)).toMatchObject({ hash: 'other 2 and mine' });
});

test('Credential updater: concurrent changes in one process: run one after the other, without a failed attempt', async () => {
  const { change, memory, calls } = await start();
  await change(DEVICE, () => wanted({ hash: '' }));
  calls.length = 0;
  await Promise.all(
    ['a', 'b', 'c'].map((suffix) =>
      change(DEVICE, (before) => ({ ...wanted(before ?? {}), hash: `${before?.hash}${suffix}` })),
    ),
  );
  expect(calls).toEqual(['find', 'replace', 'find', 'replace', 'find', 'replace']);
  expect((await memory.find(DEVICE))?.hash).toBe('abc');
});

test('Credential updater: the database write fails: the caller gets the error, and the next change succeeds', async () => {
  const { change } = await start({
    replaces: async (replace, count) => {
      if (count === 1) throw new Error('no database');
      return replace();
    },
  });
  await expect(change(DEVICE, () => wanted())).rejects.toThrow('no database');
  expect(await change(DEVICE, () => wanted())).toMatchObject(wanted());
});
