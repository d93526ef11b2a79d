import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CredentialService,
  createCredentialService,
} from '../../../../api/features/credentials/credential-service.ts';
import { isSecret } from '../../../../api/features/credentials/secret.ts';
import { type CredentialStore, createCredentialStore } from '../../../../api/features/credentials/store.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { useStore, useTestSystem } from '../../../support/system/use.ts';

const ROUNDS = 12;

const system = useTestSystem();
/** One store for each process. */
const stores = [useStore(system), useStore(system)];
let tables: CredentialStore[];
let services: CredentialService[];
beforeAll(() => {
  // The clock stands still, so all changes have the same millisecond.
  tables = stores.map(createCredentialStore);
  services = tables.map((store) => createCredentialService({ store, clock: () => 1_800_000_000_000 }));
});

const [here, there] = [() => credentialService(0), () => credentialService(1)];
const credentialService = (index: number) => services[index] as CredentialService;

const identify = (name: string) => identifyDevice(name) as Identity;
const find = async (account: string) => tables[0]?.find(identify(account).bytes);

const settled = <T>(promise: Promise<T>): Promise<{ value?: T; code?: string }> =>
  promise.then(
    (value) => ({ value }),
    ({ code }) => ({ code }),
  );

const rounds = (name: string) => Array.from({ length: ROUNDS }, (_, index) => `${name}-${index}`);

describe('Credentials, two processes at once', () => {
  test('Credentials: two processes issue a secret for one account at once: one gets credential_exists, the secret of the other is stored', async () => {
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

  test('Credentials: one process rotates a secret while another revokes it: the account stays revoked', async () => {
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

  test('Credentials: one process rotates a secret while another retires the device: the secret is revoked, and gateways may not send for the device', async () => {
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

  test('Credentials: two processes retire two devices of one gateway at once: the gateway may no longer send for either device', async () => {
    for (const gateway of rounds('twice')) {
      const devices = [`${gateway} a`, `${gateway} b`];
      await here().issue({ account: gateway, devices: [...devices, 'other'] });
      await Promise.all(devices.map((device, index) => credentialService(index).forget(identify(device))));
      expect((await find(gateway))?.devices).toEqual(['other']);
    }
  });
});
