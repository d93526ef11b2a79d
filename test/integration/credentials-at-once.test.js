import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCredentialService } from '../../api/access/credentials/credential-service.js';
import { isSecret } from '../../api/access/credentials/secret.js';
import { identifyDevice } from '../../schema/ids.js';
import { startTestSystem } from '../support/system.js';

/** @import { CredentialService } from '../../api/access/credentials/credential-service.js' */
/** @import { Store } from '../../api/store/index.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { TestSystem } from '../support/system.js' */

const ROUNDS = 12;

/** @type {TestSystem} */
let system;
/** Each as another process has it. @type {Store[]} */
let stores;
/** @type {CredentialService[]} */
let keepers;
beforeAll(async () => {
  system = await startTestSystem();
  stores = [await system.openStore(), await system.openStore()];
  // All changes of a millisecond that stands still.
  keepers = stores.map((store) =>
    createCredentialService({ store: store.credentials, clock: () => 1_800_000_000_000 }),
  );
});
afterAll(async () => {
  await Promise.all((stores ?? []).map((store) => store.close()));
  await system?.stop();
});

const [here, there] = [() => credentialService(0), () => credentialService(1)];
const credentialService = (/** @type {number} */ at) => /** @type {CredentialService} */ (keepers[at]);

const identify = (/** @type {string} */ name) => /** @type {Identity} */ (identifyDevice(name));
const find = async (/** @type {string} */ account) => stores[0]?.credentials.find(identify(account).bytes);

/** @template T @param {Promise<T>} promise @returns {Promise<{ value?: T, code?: string }>} */
const settled = (promise) =>
  promise.then(
    (value) => ({ value }),
    ({ code }) => ({ code }),
  );

/** @param {string} name */
const rounds = (name) => Array.from({ length: ROUNDS }, (_, at) => `${name}-${at}`);

describe('at once, by two processes', () => {
  test('of two that issue an account one is told that there is one, the secret and the list are of the other', async () => {
    for (const account of rounds('issued')) {
      const answers = await Promise.all([
        settled(here().issue({ account, devices: ['here'] })),
        settled(there().issue({ account, devices: ['there'] })),
      ]);
      expect(answers.map(({ code }) => code ?? '').sort()).toEqual(['', 'credential_exists']);
      const issued = answers.find(({ value }) => value)?.value;
      const row = await find(account);
      expect(await isSecret(String(issued?.secret), String(row?.hash))).toBe(true);
      expect(row?.devices).toEqual(issued?.credential.devices);
    }
  });

  test('what is rotated while it is revoked is revoked', async () => {
    for (const account of rounds('revoked')) {
      await here().issue({ account });
      const [rotated, revoked] = await Promise.all([
        settled(there().rotate(account)),
        settled(here().revoke(account)),
      ]);
      expect(revoked).toEqual({ value: undefined });
      expect([undefined, 'not_found']).toContain(rotated.code);
      expect((await find(account))?.hash).toBe('');
    }
  });

  test('what is rotated while its device is retired is revoked, and so are the rights of gateways', async () => {
    for (const device of rounds('retired')) {
      const gateway = `${device}-gateway`;
      await here().issue({ account: device });
      await here().issue({ account: gateway, devices: [device, 'other'] });
      const [forgotten, , rotated] = await Promise.all([
        here().forget(identify(device)),
        settled(there().rotate(device)),
        there().rotate(gateway),
      ]);
      expect(forgotten).toBe(true);
      expect((await find(device))?.hash).toBe('');
      const row = await find(gateway);
      expect(row?.devices).toEqual(['other']);
      expect(await isSecret(rotated.secret, String(row?.hash))).toBe(true);
    }
  });

  test('what is rotated on the ground of what was read before its device was retired finds nothing any more', async () => {
    const { credentials } = /** @type {Store} */ (stores[1]);
    /** @type {Array<() => Promise<unknown>>} */
    const meanwhile = [];
    const slow = createCredentialService({
      store: {
        ...credentials,
        async find(device) {
          const row = await credentials.find(device);
          await meanwhile.pop()?.();
          return row;
        },
      },
      clock: Date.now,
    });
    for (const [device, gateway, rotated] of /** @type {const} */ ([
      ['slow', 'slow gateway', 'slow'],
      ['late', 'late gateway', 'late gateway'],
    ])) {
      await here().issue({ account: device });
      await here().issue({ account: gateway, devices: [device] });
      meanwhile.push(() => here().forget(identify(device)));
      await settled(slow.rotate(rotated));
      expect((await find(device))?.hash).toBe('');
      expect((await find(gateway))?.devices).toEqual([]);
    }
  });

  test('two devices of one gateway are retired', async () => {
    for (const gateway of rounds('twice')) {
      const devices = [`${gateway} a`, `${gateway} b`];
      await here().issue({ account: gateway, devices: [...devices, 'other'] });
      await Promise.all(devices.map((device, at) => credentialService(at).forget(identify(device))));
      expect((await find(gateway))?.devices).toEqual(['other']);
    }
  });

  test('each change has a stamp of its own, by which connections are ended', async () => {
    await here().issue({ account: 'stamped' });
    const times = [(await find('stamped'))?.writtenAt];
    for (const at of [1, 0, 1]) {
      await credentialService(at).rotate('stamped');
      times.push((await find('stamped'))?.writtenAt);
    }
    expect(new Set(times).size).toBe(4);
    expect(times).toEqual([...times].sort());
  });
});

describe('where a request is repeated that was applied already', () => {
  /** As the driver answers where it repeats what had been applied: another request has changed it. */
  function createForgetful() {
    const { credentials } = /** @type {Store} */ (stores[0]);
    /** @type {typeof credentials} */
    const store = {
      ...credentials,
      replace: async (...row) => (await credentials.replace(...row)) && credentials.replace(...row),
    };
    return createCredentialService({ store, clock: Date.now });
  }

  test('the secret that is told is good, and what is revoked is said to be', async () => {
    const forgetful = createForgetful();
    for (const make of [() => forgetful.issue({ account: 'again' }), () => forgetful.rotate('again')]) {
      const { secret } = await make();
      expect(await isSecret(secret, String((await find('again'))?.hash))).toBe(true);
    }
    await forgetful.revoke('again');
    expect((await find('again'))?.hash).toBe('');
    await expect(forgetful.revoke('again')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a retirement that broke off is finished by the next one', async () => {
    await here().issue({ account: 'half' });
    await here().issue({ account: 'half-gateway', devices: ['half'] });
    await here().revoke('half');
    expect(await here().forget(identify('half'))).toBe(true);
    expect((await find('half-gateway'))?.devices).toEqual([]);
    expect(await here().forget(identify('half'))).toBe(false);
  });
});
