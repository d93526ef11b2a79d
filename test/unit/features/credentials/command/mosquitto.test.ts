import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrokerRights } from '../../../../../api/feature.ts';
import {
  INSTALLATION_RIGHTS,
  isFit,
  mosquitto,
  passwordLine,
  rightsLines,
} from '../../../../../api/features/credentials/command/mosquitto.ts';
import { createCredentialService } from '../../../../../api/features/credentials/credential-service.ts';
import { hashSecret, isSecret } from '../../../../../api/features/credentials/secret.ts';
import { identifyDevice } from '../../../../../schema/ids.ts';
import { createMemoryCredentials } from '../../../../support/features/credentials/index.ts';
import { readMemoryTables } from '../../../../support/memory-store/index.ts';

const HASH = await hashSecret('secret');
const INSTALLATION = { username: 'operator', password: 'of the operator' };
const RIGHTS: BrokerRights = {
  everyDevice: ['read common/+'],
  installation: ['read further/+'],
  device: (device) => (/[/+#]/.test(device) ? [] : [`write further/${device}`]),
};

/** Read while the process still runs as its own user: the other user may not be able to read the migrations. */
const TABLES = await readMemoryTables();

const NOT_SET =
  'MQTT_USERNAME or MQTT_PASSWORD is not set, or Mosquitto does not allow the name. So the programs of the installation cannot sign in.';
const NEXT_STEP =
  'Send SIGHUP to Mosquitto. It reads both files again and disconnects clients whose password is no longer valid.';
const INVALID =
  'A user name in the files of Mosquitto has no colon, no # at its beginning and no space at its ends. Issue the credential by the UUID of the device.';

const isRoot = process.getuid?.() === 0;
/** The uid of a different user. Only root can give files away. Without root it is the uid of this process. */
const OTHER = isRoot ? 4711 : Number(process.getuid?.());

/** The different user must reach the files. The TMPDIR of this user may be closed to it. */
const SHARED = isRoot ? '/tmp' : tmpdir();

const idOf = (device: string) => String(identifyDevice(device)?.id);

let directory: string;
let out: string;
beforeEach(() => {
  directory = mkdtempSync(join(SHARED, 'millrace-mosquitto-'));
  chmodSync(directory, 0o755);
  out = join(directory, 'of', 'mosquitto');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function write(
  accounts: string[],
  options: {
    installation?: { username?: string; password?: string };
    brokerRights?: BrokerRights[];
  } = {},
): Promise<string[]> {
  const { installation = INSTALLATION, brokerRights = [] } = options;
  const store = await createMemoryCredentials({ tables: TABLES });
  for (const account of accounts) {
    await store.replace(
      { deviceId: idOf(account), account, hash: HASH, devices: [], issuedAt: 1, changedAt: 1 },
      null,
    );
  }
  const notes: string[] = [];
  await mosquitto({
    credentialService: createCredentialService({ store, clock: Date.now }),
    given: { command: 'mosquitto', accounts: [], devices: [], out },
    installation,
    brokerRights,
    autoRegister: true,
    print: () => {},
    note: (text) => void notes.push(text),
  });
  return notes;
}

const read = (name: string) => readFileSync(join(out, name), 'utf8');
const handOver = () =>
  `Only the owner can read the files. If Mosquitto runs as another user: chown -R mosquitto: ${out}. Later runs keep the owner.`;
const countOf = (devices: string) => `${devices} in ${join(out, 'passwords')} and ${join(out, 'acl')}.`;

/** Runs work as a user that is not root. */
async function asAnother<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work();
  process.seteuid?.(OTHER);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

test('Files for Mosquitto: installation account and one device: each has a password line and a block of permissions', async () => {
  const notes = await write(['pump'], { brokerRights: [RIGHTS] });
  const [installation = '', device, ...more] = read('passwords').split('\n');
  expect(installation.slice(0, 9)).toBe('operator:');
  expect(await isSecret('of the operator', installation.slice(9))).toBe(true);
  expect([device, ...more]).toEqual([`pump:${HASH}`, '']);
  const id = idOf('pump');
  const own = (level: string) => [
    `topic write iot/v1/${level}/measurements`,
    `topic write iot/v1/${level}/birth`,
    `topic write iot/v1/${level}/status`,
    `topic read iot/v1/${level}/#`,
    `topic write further/${level}`,
  ];
  expect(read('acl').split('\n')).toEqual([
    'user operator',
    ...INSTALLATION_RIGHTS,
    'topic read further/+',
    '',
    'user pump',
    ...own('pump'),
    ...own(id),
    'topic read common/+',
    '',
    '',
  ]);
  expect(notes).toEqual([countOf('1 device'), handOver(), NEXT_STEP]);
});

test('Files for Mosquitto: no device has a credential: only the account of the installation is written', async () => {
  expect(await write([])).toContain(countOf('0 devices'));
  expect(read('acl')).toBe(`user operator\n${INSTALLATION_RIGHTS.join('\n')}\n\n`);
});

test.each([
  ['no name', { password: 'x' }],
  ['no password', { username: 'operator' }],
  ['no name and no password', {}],
  ['a name that Mosquitto does not allow', { username: 'a:b', password: 'x' }],
])('Files for Mosquitto: %s for the installation: only devices are listed', async (_, installation) => {
  const notes = await write(['pump'], { installation });
  expect(notes).toEqual([NOT_SET, countOf('1 device'), handOver(), NEXT_STEP]);
  expect(read('passwords')).toBe(`pump:${HASH}\n`);
  expect(read('acl')).toMatch(/^user pump\n/);
});

test('Files for Mosquitto: account names that Mosquitto refuses, or equal to MQTT_USERNAME: left out, with a printed reason', async () => {
  const notes = await write(['co:lon', '#hash', ' space', 'space ', 'operator', 'pump']);
  expect(notes.slice(0, -3).sort()).toEqual(
    [
      `co:lon: left out. ${INVALID}`,
      `#hash: left out. ${INVALID}`,
      ` space: left out. ${INVALID}`,
      `space : left out. ${INVALID}`,
      'operator: left out. MQTT_USERNAME has this name.',
    ].sort(),
  );
  expect(notes).toContain(countOf('1 device'));
  expect(read('passwords').match(/^[^:]+/gm)).toEqual(['operator', 'pump']);
  expect(read('acl').match(/^user .*/gm)).toEqual(['user operator', 'user pump']);
});

const linesOf = (account: string, devices: string[] = [], brokerRights: BrokerRights[] = []) =>
  rightsLines(
    { account, deviceId: idOf(account), hash: HASH, devices, issuedAt: 1, changedAt: 1, writtenAt: 1 },
    brokerRights,
  );

test.each(['+', '#', 'a+b', 'a/b/c', 'plant/+', '+/edge', '/', 'plant/', '/edge'])(
  'Files for Mosquitto: device name %j is no level of a topic: permissions use the device id only',
  (account) => {
    const id = idOf(account);
    expect(linesOf(account, [], [RIGHTS]).slice(1, -1)).toEqual([
      ...['measurements', 'birth', 'status'].map((kind) => `topic write iot/v1/${id}/${kind}`),
      `topic read iot/v1/${id}/#`,
      `topic write further/${id}`,
    ]);
  },
);

test('Files for Mosquitto: the account name is the id of a device: each topic permission is listed once', () => {
  const lines = linesOf(idOf('pump'));
  expect(new Set(lines).size).toBe(lines.length);
});

test('Files for Mosquitto: account name with a colon, a leading # or an outer space: isFit() returns false', () => {
  expect(['pump', 'a#b', 'a b'].map(isFit)).toEqual([true, true, true]);
  expect(['a:b', '#a', ' a', 'a\t'].map(isFit)).toEqual([false, false, false, false]);
  expect(passwordLine('pump', HASH)).toBe(`pump:${HASH}`);
});

describe('Files for Mosquitto: owner and mode', () => {
  const modeOf = (name: string) => statSync(join(out, name)).mode & 0o777;
  const both = () => ['passwords', 'acl'].map((name) => join(out, name));

  test('Files for Mosquitto: a new directory: only its owner may read the directory and the files', async () => {
    const umask = process.umask(0);
    try {
      await write(['pump']);
    } finally {
      process.umask(umask);
    }
    expect(statSync(out).mode & 0o777).toBe(0o700);
    expect([modeOf('passwords'), modeOf('acl')]).toEqual([0o600, 0o600]);
    expect(readdirSync(out).sort()).toEqual(['acl', 'passwords']);
  });

  test('Files for Mosquitto: old files are readable for everyone: the new files are readable for their owner only', async () => {
    mkdirSync(out, { recursive: true });
    for (const path of both()) writeFileSync(path, 'old\n', { mode: 0o606 });
    expect(await write(['pump'])).toContain(handOver());
    expect([modeOf('passwords'), modeOf('acl')]).toEqual([0o600, 0o600]);
    expect(read('passwords') + read('acl')).not.toContain('old');
  });

  test('Files for Mosquitto: old files are readable for their group: the new files stay readable for it, and no chown is advised', async () => {
    mkdirSync(out, { recursive: true });
    for (const path of both()) {
      writeFileSync(path, 'old\n');
      chmodSync(path, 0o664);
    }
    expect(await write(['pump'])).toEqual([countOf('1 device'), NEXT_STEP]);
    expect([modeOf('passwords'), modeOf('acl')]).toEqual([0o640, 0o640]);
  });

  test('Files for Mosquitto: the directory belongs to another user: new files belong to this user', async () => {
    mkdirSync(out, { recursive: true });
    chownSync(out, OTHER, Number(process.getgid?.()));
    expect((await write(['pump'])).includes(handOver())).toBe(!isRoot);
    for (const path of both()) expect(statSync(path).uid).toBe(OTHER);
  });

  test('Files for Mosquitto: only the files belong to another user: the new files keep this owner, and the note advises a chown', async () => {
    mkdirSync(out, { recursive: true });
    for (const path of both()) {
      writeFileSync(path, 'old\n', { mode: 0o600 });
      chownSync(path, OTHER, Number(process.getgid?.()));
    }
    expect(await write(['pump'])).toContain(handOver());
    for (const path of both()) expect(statSync(path).uid).toBe(OTHER);
  });

  test('Files for Mosquitto: chown to the old owner fails: the old file stays unchanged, and the error names its owner', async () => {
    // The process writes without root rights into a directory of root. A new file there must belong to root.
    if (isRoot) {
      mkdirSync(out, { recursive: true });
      writeFileSync(join(out, 'passwords'), 'old\n', { mode: 0o644 });
      chmodSync(out, 0o777);
    } else out = '/tmp';
    const [error] = await asAnother(() =>
      write(['pump']).then(
        () => [],
        (failure) => [failure],
      ),
    );
    expect(error).toMatchObject({
      code: 'failed',
      message: expect.stringContaining('passwords stays as it was: it belongs to user 0 and group 0.'),
      cause: { code: 'EPERM' },
    });
    if (isRoot) {
      expect(read('passwords')).toBe('old\n');
      expect(readdirSync(out)).toEqual(['passwords']);
    }
  });
});
