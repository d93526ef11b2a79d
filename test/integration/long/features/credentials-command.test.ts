import { expect, test } from '@jest/globals';
import { isSecret } from '../../../../api/features/credentials/secret.ts';
import { type CredentialPlace, createCredentialStore } from '../../../../api/features/credentials/store.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { useStore, useTestSystem } from '../../../support/system/use.ts';

const system = useTestSystem();
const store = useStore(system);
const table = () => createCredentialStore(store);

const run = (...args: string[]) => runWith({}, ...args);

/** @param more settings */
async function runWith(more: Record<string, string>, ...args: string[]) {
  const account = { MQTT_USERNAME: 'operator', MQTT_PASSWORD: 'right' };
  const settings = { ...system.databaseSettings, ...account, ...more };
  const { code, output } = await startCommand('api/features/credentials/command/index.ts', settings, args)
    .ended;
  return { code, output, lines: output.trim().split('\n') };
}

/** @returns by account */
const secretsIn = (output: string): Map<string, string> => {
  const pairs = output.split('\n').flatMap((line) => (line.includes('\t') ? [line.split('\t')] : []));
  return new Map(pairs.map(([account, secret]) => [String(account), String(secret)]));
};

const find = (account: string) => table().find(identifyDevice(account)?.bytes as Buffer);

test('npm run credentials: issue, list, rotate, revoke and issue again: only the newest secret is valid, and only its hash is stored', async () => {
  expect((await run('list')).output).toContain('No device has a credential.');

  const issued = await run('issue', 'pump', 'Ofen 3', '--devices', 'a,plant/edge');
  expect(issued.code).toBe(0);
  const secrets = secretsIn(issued.output);
  expect([...secrets.keys()]).toEqual(['pump', 'Ofen 3']);
  const before = await find('pump');
  expect(before).toMatchObject({ account: 'pump', devices: ['a', 'plant/edge'] });
  expect(await isSecret(String(secrets.get('pump')), String(before?.hash))).toBe(true);

  const listed = await run('list');
  expect(listed.lines).toHaveLength(2);
  expect(listed.output).toContain(`${before?.deviceId}  pump  issued `);
  expect(listed.output).toContain('speaks for a, plant/edge');
  for (const secret of secrets.values()) expect(listed.output).not.toContain(secret);

  const again = await run('issue', 'pump');
  expect(again).toMatchObject({ code: 1 });
  expect(again.output).toContain('rotate it');
  expect(await find('pump')).toEqual(before);

  const rotated = secretsIn((await run('rotate', 'pump')).output);
  const after = await find('pump');
  expect(after?.writtenAt).toBeGreaterThan(Number(before?.writtenAt));
  expect(after).toMatchObject({ issuedAt: before?.issuedAt, devices: ['a', 'plant/edge'] });
  expect(await isSecret(String(secrets.get('pump')), String(after?.hash))).toBe(false);
  expect(await isSecret(String(rotated.get('pump')), String(after?.hash))).toBe(true);

  // The command accepts the id as well as the name.
  expect((await run('revoke', String(after?.deviceId))).code).toBe(0);
  expect((await find('pump'))?.hash).toBe('');
  expect((await run('list')).lines).toHaveLength(1);
  for (const command of ['revoke', 'rotate']) expect((await run(command, 'pump')).code).not.toBe(0);

  expect(secretsIn((await run('issue', 'pump')).output).size).toBe(1);
  expect(await find('pump')).toMatchObject({ devices: [] });
});

test.each([
  [['issue'], 2, 'takes one account'],
  [['list', 'pump'], 2, 'unexpected word'],
  [['withdraw', 'pump'], 2, 'unknown command'],
  [['--help'], 0, 'issue ACCOUNT…'],
  [['issue', ''], 1, 'name of a device'],
  [['issue', 'x', '--devices', 'a,,b'], 1, 'name of a device'],
  [['issue', 'operator'], 1, 'MQTT_USERNAME'],
])('npm run credentials: arguments %j: exits with code %p', async (args, code, words) => {
  const { code: exitCode, output } = await run(...args);
  expect({ exitCode, output }).toMatchObject({ exitCode: code, output: expect.stringContaining(words) });
});

test('npm run credentials: some of the given accounts are wrong: each wrong one has its error, the others are processed', async () => {
  await run('issue', 'there');
  const issued = await run('issue', 'first', 'there', 'operator', 'last');
  expect([...secretsIn(issued.output).keys()]).toEqual(['first', 'last']);
  expect(issued.output).toMatch(/^there: .*rotate it/m);
  expect(issued.output).toMatch(/^operator: MQTT_USERNAME/m);
  expect(issued.output).toContain('The secret is shown once');
  expect(issued).toMatchObject({ code: 1, output: expect.stringContaining('issue: done for 2 of 4.') });

  const rotated = await run('rotate', 'absent', 'first');
  expect([...secretsIn(rotated.output).keys()]).toEqual(['first']);
  expect(rotated).toMatchObject({ code: 1, output: expect.stringMatching(/^absent: .*no credential/m) });

  const revoked = await run('revoke', 'absent', 'first', 'last', 'there');
  expect(revoked).toMatchObject({ code: 1, output: expect.stringContaining('revoke: done for 3 of 4.') });
  expect((await find('last'))?.hash).toBe('');
});

test('npm run credentials -- issue: AUTO_REGISTER is off: the output shows how a device registers', async () => {
  const withoutRegistration = await runWith({ AUTO_REGISTER: 'false' }, 'issue', 'to be born');
  expect(withoutRegistration.output).toContain('iot/v1/ACCOUNT/birth {"sensors"');
  expect((await run('issue', 'by itself')).output).not.toContain('birth');
  await run('revoke', 'to be born', 'by itself');
});

test('npm run credentials: the stored row was written with a clock ahead: a later revoke or issue replaces it', async () => {
  const ahead = Date.now() + 3_600_000;
  await table().replace(
    {
      deviceId: String(identifyDevice('ahead')?.id),
      account: 'ahead',
      hash: 'x',
      devices: [],
      issuedAt: ahead,
      changedAt: ahead,
    },
    null,
  );
  await run('revoke', 'ahead');
  expect((await find('ahead'))?.hash).toBe('');
  await run('issue', 'ahead');
  expect((await find('ahead'))?.hash).toMatch(/^\$7\$/);
});

test('npm run credentials -- list: 30 accounts: each account is listed, in pages', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `many-${index}`);
  for (const name of names) {
    const { id } = identifyDevice(name) as Identity;
    const now = Date.now();
    const hash = Number(name.slice(5)) % 3 === 0 ? '' : 'x';
    await table().replace(
      {
        deviceId: id,
        account: name,
        hash,
        devices: [],
        issuedAt: now,
        changedAt: now,
      },
      null,
    );
  }
  const seen: string[] = [];
  let after: CredentialPlace | null = null;
  do {
    const page = await table().page({ after, limit: 3 });
    expect(page.rows.length).toBeLessThanOrEqual(3);
    seen.push(...page.rows.map(({ account }) => account));
    after = page.next;
  } while (after);
  const many = seen.filter((account) => account.startsWith('many-'));
  expect(many.sort()).toEqual(names.filter((name) => Number(name.slice(5)) % 3 !== 0).sort());
});
