import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type {
  CredentialPlace,
  CredentialStore,
  NewCredential,
} from '../../../../api/features/credentials/store.ts';
import { uuidBytes } from '../../../../schema/ids.ts';

/** @returns a credential of a new device */
const credentialOf = (other?: Partial<NewCredential>): NewCredential => ({
  deviceId: randomUUID(),
  account: 'pump',
  hash: '$7$101$salt$hash',
  devices: [],
  issuedAt: 1_795_000_000_000,
  changedAt: 1_795_000_000_001,
  ...other,
});

export function describeCredentials(storeOf: () => CredentialStore) {
  const find = ({ deviceId }: { deviceId: string }) => storeOf().find(uuidBytes(deviceId));

  async function add(other?: Partial<NewCredential>) {
    const credential = credentialOf(other);
    expect(await storeOf().replace(credential, null)).toBe(true);
    return credential;
  }

  async function listed(limit: number): Promise<string[]> {
    const ids = [];
    let after: CredentialPlace | null = null;
    do {
      const page: Awaited<ReturnType<CredentialStore['page']>> = await storeOf().page({ after, limit });
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      ids.push(...page.rows.map(({ deviceId }) => deviceId));
      after = page.next;
    } while (after);
    return ids;
  }

  describe('Credential store: find', () => {
    test('Credential store: find: a credential that was never written: returns null', async () => {
      expect(await find(credentialOf())).toBeNull();
    });

    test('Credential store: find: a written credential: returned with writtenAt; its devices are unique and in byte order', async () => {
      const credential = await add({ devices: ['b', 'a', 'ä', 'a', 'B', '\u{10000}', '\uffff'] });
      expect(await find(credential)).toEqual({
        ...credential,
        devices: ['B', 'a', 'b', 'ä', '\uffff', '\u{10000}'],
        writtenAt: expect.any(Number),
      });
    });

    test('Credential store: find: a revoked credential: returned with an empty hash', async () => {
      const credential = await add({ hash: '' });
      expect(await find(credential)).toMatchObject({ ...credential, devices: [] });
    });

    test('Credential store: find: the caller changes the returned credential: the stored credential does not change', async () => {
      const credential = await add({ devices: ['a'] });
      (await find(credential))?.devices.push('b');
      credential.devices.push('c');
      expect((await find(credential))?.devices).toEqual(['a']);
    });
  });

  describe('Credential store: replace', () => {
    test('Credential store: replace: the caller expects no credential, but one exists: returns false, and the credential stays', async () => {
      const credential = await add();
      expect(await storeOf().replace({ ...credential, account: 'other', changedAt: 2 }, null)).toBe(false);
      expect(await find(credential)).toMatchObject(credential);
    });

    test('Credential store: replace: the credential to replace does not exist: returns false, and no credential is created', async () => {
      const credential = credentialOf();
      expect(await storeOf().replace(credential, { changedAt: 1 })).toBe(false);
      expect(await find(credential)).toBeNull();
    });

    test('Credential store: replace: the credential is unchanged since it was read: replaced, with a later writtenAt', async () => {
      const before = await find(await add({ devices: ['a'] }));
      if (!before) throw new Error('not found');
      const { writtenAt, ...credential } = before;
      const next = { ...credential, account: 'valve', hash: 'h', devices: [], issuedAt: 7, changedAt: 8 };
      expect(await storeOf().replace(next, before)).toBe(true);
      const after = await find(next);
      expect(after).toEqual({ ...next, writtenAt: expect.any(Number) });
      expect(Number(after?.writtenAt)).toBeGreaterThan(writtenAt);
    });

    test('Credential store: replace: the credential has changed since it was read: returns false, and the first change stays', async () => {
      const before = await add();
      const first = { ...before, hash: 'first', changedAt: before.changedAt + 1 };
      const second = { ...before, hash: 'second', changedAt: before.changedAt + 2 };
      expect(await storeOf().replace(first, before)).toBe(true);
      expect(await storeOf().replace(second, before)).toBe(false);
      expect(await find(before)).toMatchObject(first);
    });

    test('Credential store: replace: four concurrent calls for one credential: exactly one call succeeds', async () => {
      const before = await add();
      const applied = await Promise.all(
        [1, 2, 3, 4].map((more) =>
          storeOf().replace({ ...before, hash: `h${more}`, changedAt: before.changedAt + more }, before),
        ),
      );
      expect(applied.filter(Boolean)).toHaveLength(1);
      expect((await find(before))?.hash).toBe(`h${applied.indexOf(true) + 1}`);
    });
  });

  describe('Credential store: page', () => {
    test.each([1, 3, 1000])('Credential store: pages of %i: each valid credential once', async (limit) => {
      const good = await Promise.all(Array.from({ length: 9 }, () => add()));
      const revoked = await Promise.all(Array.from({ length: 3 }, () => add({ hash: '' })));
      const ids = await listed(limit);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { deviceId } of good) expect(ids).toContain(deviceId);
      for (const { deviceId } of revoked) expect(ids).not.toContain(deviceId);
    });
  });

  test('Credential store: writeTimes: returns the write time of each credential, also of revoked credentials', async () => {
    const written = [await add(), await add({ hash: '' }), await add()];
    const ids = [...written, credentialOf()].map(({ deviceId }) => deviceId);
    const rows = await Promise.all(written.map(find));
    expect(await storeOf().writeTimes(ids)).toEqual(
      new Map(rows.map((row) => [row?.deviceId, row?.writtenAt])),
    );
    expect(await storeOf().writeTimes([])).toEqual(new Map());
  });
}
