import { expect, test } from '@jest/globals';
import { isSecret } from '../../../../api/features/credentials/secret.ts';
import { createCredentialStore } from '../../../../api/features/credentials/store.ts';
import { identifyDevice } from '../../../../schema/ids.ts';
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
