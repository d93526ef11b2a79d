import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { credentialsCommand } from '../../../../../api/features/credentials/command/command.ts';
import { isSecret } from '../../../../../api/features/credentials/secret.ts';
import {
  type CredentialStore,
  createCredentialStore,
} from '../../../../../api/features/credentials/store.ts';
import type { Store } from '../../../../../api/store/index.ts';
import { MillraceError } from '../../../../../common/errors.ts';
import { readSettings } from '../../../../../common/settings/index.ts';
import { type Identity, identifyDevice } from '../../../../../schema/ids.ts';
import { useDirectory } from '../../../../support/directory.ts';
import { createMemoryStore } from '../../../../support/memory-store/index.ts';
import { NO_ENV_FILE } from '../../../../support/settings.ts';

// Some tests start a process that needs files.
const directory = useDirectory('credentials');

const identify = (account: string) => identifyDevice(account) as Identity;

const ONCE = 'The secret is shown once: only a salted hash is stored.';
const NO_CREDENTIAL = 'This account has no credential.';
const BAD_NAME = 'An account is the name of a device, 1 to 128 bytes, or its UUID.';

let store: Store;
let memory: CredentialStore;
beforeEach(async () => {
  store = (await createMemoryStore()).store;
  memory = createCredentialStore(store);
});

const find = (account: string) => memory.find(identify(account).bytes);

type ConnectOptions = Parameters<Parameters<typeof credentialsCommand>[1]['connect']>[0];
type Result = {
  lines: string[];
  notes: string[];
  closed: number;
  options: ConnectOptions | null;
  error: { code?: string; message: string } | null;
};

async function run(
  argv: string[],
  {
    autoRegister = true,
    beforeWrite = () => {},
    onOutput = () => {},
  }: { autoRegister?: boolean; beforeWrite?: () => void; onOutput?: () => void } = {},
): Promise<Result> {
  const result: Result = { lines: [], notes: [], closed: 0, options: null, error: null };
  const settings = {
    ...readSettings({}, { envFile: NO_ENV_FILE }),
    cql: { keyspace: 'millrace' },
    retention: { latestGroups: 4 },
    mqtt: { username: 'operator', password: 'of the operator' },
    ingest: { autoRegister },
  };
  try {
    await credentialsCommand(argv, {
      readSettings: () => settings as never,
      async connect(options) {
        result.options = options;
        return {
          groups: store.groups,
          session: {
            ...store.session,
            async one(statement, params) {
              if (statement.name !== 'read_credential') beforeWrite();
              return store.session.one(statement, params);
            },
          },
          async close() {
            await new Promise((resolve) => setImmediate(resolve));
            result.closed++;
          },
        };
      },
      print(text) {
        result.lines.push(text);
        onOutput();
      },
      note: (text) => void result.notes.push(text),
    });
  } catch (error) {
    result.error = error as Result['error'];
  }
  return result;
}

/** @param lines printed lines @returns secrets by account */
const secretsOf = (lines: string[]): Map<string, string> =>
  new Map(lines.map((line) => line.split('\t') as [string, string]));

const isValid = async (account: string, secret: string | undefined) =>
  isSecret(String(secret), (await find(account))?.hash ?? null);

test('Credentials command: CQL settings: reach the database connection, which is closed at the end', async () => {
  const { options, closed, error } = await run(['list']);
  expect(error).toBeNull();
  expect(options).toMatchObject({ cql: { keyspace: 'millrace' }, retention: { latestGroups: 4 } });
  expect([options?.observe({} as never, undefined as never), options?.onStaleIndex('device')]).toEqual([
    undefined,
    undefined,
  ]);
  expect(closed).toBe(1);
});

test('Credentials command: the command fails: the database connection is still closed', async () => {
  const { closed, error } = await run(['revoke', 'absent']);
  expect(error).toMatchObject({ code: 'failed' });
  expect(closed).toBe(1);
});

test('Credentials command: issue: several accounts: each gets a printed line with a valid secret, one note follows', async () => {
  const { lines, notes, error } = await run(['issue', 'pump', 'valve']);
  const secrets = secretsOf(lines);
  expect(error).toBeNull();
  expect([...secrets.keys()]).toEqual(['pump', 'valve']);
  for (const [account, secret] of secrets) expect(await isValid(account, secret)).toBe(true);
  expect(notes).toEqual([ONCE]);
  expect(await find('pump')).toMatchObject({ devices: [] });
});

test('Credentials command: issue: some accounts are refused with a reason, the others are issued, the command fails', async () => {
  await run(['issue', 'there']);
  const { lines, notes, error } = await run(['issue', 'first', 'there', '', 'operator', 'last']);
  expect([...secretsOf(lines).keys()]).toEqual(['first', 'last']);
  expect(notes).toEqual([
    expect.stringMatching(/^there: .*rotate it/),
    `: ${BAD_NAME}`,
    'operator: MQTT_USERNAME has this name.',
    ONCE,
  ]);
  expect(error).toMatchObject({ code: 'failed', message: 'issue: done for 2 of 5.' });
});

test('Credentials command: an account name has control characters: the printed note has question marks instead', async () => {
  const { notes } = await run(['revoke', 'a\u001b[2Jb']);
  expect(notes).toEqual([`a?[2Jb: ${BAD_NAME}`]);
});

test.each([
  ['a database request fails', new MillraceError('unavailable', 'no replica answers')],
  ['a program error occurs', Object.assign(new Error('a defect'), { code: 'not_found' })],
])('Credentials command: issue: %s at account 2 of 3: account 3 gets no credential', async (_, failure) => {
  let count = 0;
  const beforeWrite = () => {
    if (++count === 2) throw failure;
  };
  const { lines, closed, error } = await run(['issue', 'a', 'b', 'c'], { beforeWrite });
  expect([...secretsOf(lines).keys()]).toEqual(['a']);
  expect(error).toBe(failure);
  expect(closed).toBe(1);
  expect(await find('c')).toBeNull();
});

test('Credentials command: issue --file: secrets are appended to a file with mode 600, and not printed', async () => {
  const file = join(directory, 'added.secret');
  writeFileSync(file, 'before\tsecret\n', { mode: 0o644 });
  const { lines, notes, error } = await run(['issue', 'pump', 'valve', '--file', file]);
  expect({ lines, notes, error }).toEqual({ lines: [], notes: [ONCE], error: null });
  const secrets = secretsOf(readFileSync(file, 'utf8').trimEnd().split('\n'));
  expect([...secrets.keys()]).toEqual(['before', 'pump', 'valve']);
  expect(await isValid('valve', secrets.get('valve'))).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('Credentials command: issue --file: the file cannot be opened: no credential is issued', async () => {
  const { error } = await run(['issue', 'pump', '--file', join(directory, 'none', 'x')]);
  expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining('cannot be written') });
  expect(await find('pump')).toBeNull();
});

test('Credentials command: issue --file: two accounts: the first secret is in the file before the second is issued', async () => {
  const file = join(directory, 'order.secret');
  const written: string[] = [];
  const beforeWrite = () => void written.push(readFileSync(file, 'utf8').replaceAll(/\t.*/g, ''));
  await run(['issue', 'a', 'b', '--file', file], { beforeWrite });
  expect(written).toEqual(['', 'a\n']);
});

test('Credentials command: rotate by name or id: the new secret is valid, the old secret is not', async () => {
  const issued = secretsOf((await run(['issue', 'pump', 'valve'])).lines);
  const { lines, notes, error } = await run(['rotate', 'pump', identify('valve').id]);
  const rotated = secretsOf(lines);
  expect([...rotated.keys()]).toEqual(['pump', 'valve']);
  for (const account of ['pump', 'valve']) {
    expect(await isValid(account, issued.get(account))).toBe(false);
    expect(await isValid(account, rotated.get(account))).toBe(true);
  }
  expect(notes).toEqual([
    `${ONCE} The old secrets are no longer valid. Clients that use one are disconnected within half a minute.`,
  ]);
  expect(error).toBeNull();
});

test('Credentials command: revoke: one of three accounts has no credential: the other two are revoked, and the command fails', async () => {
  await run(['issue', 'pump', 'valve']);
  const { lines, notes, error } = await run(['revoke', 'pump', 'absent', 'valve']);
  expect(lines).toEqual([]);
  const revoked = 'revoked. If it is connected, it is disconnected within half a minute.';
  expect(notes).toEqual([`pump: ${revoked}`, `absent: ${NO_CREDENTIAL}`, `valve: ${revoked}`]);
  expect(error).toMatchObject({ code: 'failed', message: 'revoke: done for 2 of 3.' });
  for (const account of ['pump', 'valve']) expect(await find(account)).toMatchObject({ hash: '' });
});

describe('Credentials command: list', () => {
  const store = (
    account: string,
    { devices = [], changedAt = Date.UTC(2026, 10, 22) }: { devices?: string[]; changedAt?: number } = {},
  ) =>
    memory.replace(
      {
        deviceId: identify(account).id,
        account,
        hash: 'x',
        devices,
        issuedAt: Date.UTC(2026, 10, 22),
        changedAt,
      },
      null,
    );

  test('Credentials command: list: one line per valid credential, with id, name, times and devices', async () => {
    await store('pump');
    await store('rotated', { changedAt: Date.UTC(2026, 10, 23) });
    await store('gateway', { devices: ['sheep', 'goat'], changedAt: Date.UTC(2026, 10, 23) });
    await store('small gateway', { devices: ['sheep'] });
    await run(['issue', 'gone']);
    await run(['revoke', 'gone']);
    const { lines, notes, error } = await run(['list']);
    const at = (day: number) => `2026-11-${day}T00:00:00.000Z`;
    expect([...lines].sort()).toEqual(
      [
        `${identify('pump').id}  pump  issued ${at(22)}`,
        `${identify('rotated').id}  rotated  issued ${at(22)}  changed ${at(23)}`,
        `${identify('gateway').id}  gateway  issued ${at(22)}  changed ${at(23)}  speaks for goat, sheep`,
        `${identify('small gateway').id}  small gateway  issued ${at(22)}  speaks for sheep`,
      ].sort(),
    );
    expect({ notes, error }).toEqual({ notes: [], error: null });
  });

  test('Credentials command: list: long names are truncated, control characters become question marks', async () => {
    await store('x'.repeat(100), { devices: ['\n'.repeat(100)] });
    const [line] = (await run(['list'])).lines;
    expect(line).toContain(`  ${'x'.repeat(80)}…  issued`);
    expect(line).toContain(`speaks for ${'?'.repeat(80)}…`);
  });
});
