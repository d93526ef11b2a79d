import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { uuidBytes } from '../../../schema/ids.js';

/** @import { CredentialPlace, CredentialStore, NewCredential } from '../../../api/store/credentials.js' */

/** @param {Partial<NewCredential>} [other] @returns {NewCredential} of a device of its own */
const credentialOf = (other) => ({
  deviceId: randomUUID(),
  account: 'pump',
  hash: '$7$101$salt$hash',
  devices: [],
  issuedAt: 1_795_000_000_000,
  changedAt: 1_795_000_000_001,
  ...other,
});

/** What every store of credentials does. @param {() => CredentialStore} storeOf */
export function describeCredentials(storeOf) {
  /** @param {{ deviceId: string }} credential */
  const find = ({ deviceId }) => storeOf().find(uuidBytes(deviceId));

  /** @param {Partial<NewCredential>} [other] */
  async function add(other) {
    const credential = credentialOf(other);
    expect(await storeOf().replace(credential, null)).toBe(true);
    return credential;
  }

  /** @param {number} limit @returns {Promise<string[]>} ids of all pages */
  async function listed(limit) {
    const ids = [];
    /** @type {CredentialPlace | null} */
    let after = null;
    do {
      /** @type {Awaited<ReturnType<CredentialStore['page']>>} */
      const page = await storeOf().page({ after, limit });
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      ids.push(...page.rows.map(({ deviceId }) => deviceId));
      after = page.next;
    } while (after);
    return ids;
  }

  describe('Credential store: find', () => {
    test('never written: null', async () => {
      expect(await find(credentialOf())).toBeNull();
    });

    test('written: as it was, its list without repetitions in the order of its bytes, and a writtenAt', async () => {
      const credential = await add({ devices: ['b', 'a', 'ä', 'a', 'B', '\u{10000}', '\uffff'] });
      expect(await find(credential)).toEqual({
        ...credential,
        devices: ['B', 'a', 'b', 'ä', '\uffff', '\u{10000}'],
        writtenAt: expect.any(Number),
      });
    });

    test('revoked: the row, with an empty hash', async () => {
      const credential = await add({ hash: '' });
      expect(await find(credential)).toMatchObject({ ...credential, devices: [] });
    });

    test('the caller changes what it got: the store keeps its own', async () => {
      const credential = await add({ devices: ['a'] });
      (await find(credential))?.devices.push('b');
      credential.devices.push('c');
      expect((await find(credential))?.devices).toEqual(['a']);
    });
  });

  describe('Credential store: replace', () => {
    test('there is one already: false, and it stays', async () => {
      const credential = await add();
      expect(await storeOf().replace({ ...credential, account: 'other', changedAt: 2 }, null)).toBe(false);
      expect(await find(credential)).toMatchObject(credential);
    });

    test('there is none to replace: false, and none comes about', async () => {
      const credential = credentialOf();
      expect(await storeOf().replace(credential, { changedAt: 1 })).toBe(false);
      expect(await find(credential)).toBeNull();
    });

    test('the one that was read: all of it changes, and its writtenAt grows', async () => {
      const before = await find(await add({ devices: ['a'] }));
      if (!before) throw new Error('not found');
      const { writtenAt, ...credential } = before;
      const next = { ...credential, account: 'valve', hash: 'h', devices: [], issuedAt: 7, changedAt: 8 };
      expect(await storeOf().replace(next, before)).toBe(true);
      const after = await find(next);
      expect(after).toEqual({ ...next, writtenAt: expect.any(Number) });
      expect(Number(after?.writtenAt)).toBeGreaterThan(writtenAt);
    });

    test('changed since it was read: false, and the change stays', async () => {
      const before = await add();
      const first = { ...before, hash: 'first', changedAt: before.changedAt + 1 };
      const second = { ...before, hash: 'second', changedAt: before.changedAt + 2 };
      expect(await storeOf().replace(first, before)).toBe(true);
      expect(await storeOf().replace(second, before)).toBe(false);
      expect(await find(before)).toMatchObject(first);
    });

    test('several at once on the ground of one reading: one of them', async () => {
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
    test.each([1, 3, 1000])('limit %i: each good one once, none that is revoked', async (limit) => {
      const good = await Promise.all(Array.from({ length: 9 }, () => add()));
      const revoked = await Promise.all(Array.from({ length: 3 }, () => add({ hash: '' })));
      const ids = await listed(limit);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { deviceId } of good) expect(ids).toContain(deviceId);
      for (const { deviceId } of revoked) expect(ids).not.toContain(deviceId);
    });
  });

  test('Credential store: writeTimes: those of find, of all that were ever written, revoked or not', async () => {
    const written = [await add(), await add({ hash: '' }), await add()];
    const ids = [...written, credentialOf()].map(({ deviceId }) => deviceId);
    const rows = await Promise.all(written.map(find));
    expect(await storeOf().writeTimes(ids)).toEqual(
      new Map(rows.map((row) => [row?.deviceId, row?.writtenAt])),
    );
    expect(await storeOf().writeTimes([])).toEqual(new Map());
  });
}
