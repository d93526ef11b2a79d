import { expect, test } from '@jest/globals';
import { Accounts, FailedLogins, type SignInDevice } from '../../../api/access/accounts.ts';
import { deviceAccount } from '../../../api/access/topic-permissions.ts';

const MQTT = { auth: true, username: 'installation', password: 'the password of the installation' };
const from = (address: string) => ({ address, gone: new AbortController().signal, reject: () => {} });
const HERE = from('192.0.2.1');
const THERE = from('192.0.2.2');

function start({
  mqtt = MQTT,
  failedLogins,
}: {
  mqtt?: Partial<typeof MQTT>;
  failedLogins?: FailedLogins;
} = {}) {
  const accounts = new Accounts({ ...MQTT, ...mqtt } as typeof MQTT, failedLogins);
  const signIn = async (password: string, peer: typeof HERE) =>
    (await accounts.signIn(MQTT.username, Buffer.from(password), peer)) !== null;
  return { accounts, signIn };
}

test('Installation account: ten wrong passwords from one IP address: this address alone is refused, even with the right password', async () => {
  const { signIn } = start();
  for (let at = 0; at < 9; at++) expect(await signIn(`guess ${at}`, HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(true);
  expect(await signIn('the tenth', HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(false);
  expect(await signIn(MQTT.password, THERE)).toBe(true);
});

test('Installation account: blocked after ten wrong passwords: one minute after the first of them, the right password is accepted', async () => {
  let now = 0;
  const { signIn } = start({ failedLogins: new FailedLogins({ clock: () => now }) });
  now = 1;
  for (let at = 0; at < 10; at++) await signIn(`guess ${at}`, HERE);
  now = 60_000;
  expect(await signIn('wrong', HERE)).toBe(false);
  expect(await signIn(MQTT.password, HERE)).toBe(false);
  now = 60_002;
  expect(await signIn(MQTT.password, HERE)).toBe(true);
});

test('Failed logins: 100 wrong passwords of device accounts: the installation account still signs in from the same address', async () => {
  const { accounts, signIn } = start();
  for (let at = 0; at < 100; at++) await accounts.signIn(`device ${at}`, Buffer.from('wrong'), HERE);
  expect(await signIn(MQTT.password, HERE)).toBe(true);
});

test('Sign-in: MQTT_AUTH is off: any client has all permissions, and no feature is asked', async () => {
  const { accounts } = start({ mqtt: { auth: false } });
  accounts.signInDevicesBy(() => Promise.reject(new Error('asked')));
  for (const [name, password] of [[], ['installation', 'wrong'], ['pump', '']]) {
    const given = password === undefined ? undefined : Buffer.from(password);
    expect(await accounts.signIn(name, given, HERE)).toMatchObject({ isInstallation: true, name: '' });
  }
});

test.each([
  ['neither a name nor a password', { username: undefined, password: undefined }],
  ['no name', { username: undefined, password: '' }],
  ['no password', { username: 'installation', password: undefined }],
  ['an empty password', { username: 'installation', password: '' }],
  ['an empty name', { username: '', password: 'secret' }],
])('Installation account: %s is set: nobody signs in as the installation', async (_, settings) => {
  const { accounts } = start({ mqtt: settings as Partial<typeof MQTT> });
  for (const name of ['installation', '', undefined]) {
    for (const password of ['', 'secret', undefined]) {
      const given = password === undefined ? undefined : Buffer.from(password);
      expect(await accounts.signIn(name, given, HERE)).toBeNull();
    }
  }
});

test('Installation account: right password: the right account name gets all permissions, a wrong account name is refused', async () => {
  const { accounts } = start();
  const password = Buffer.from(MQTT.password);
  expect(await accounts.signIn('installation', password, HERE)).toMatchObject({
    isInstallation: true,
    name: 'installation',
  });
  for (const name of ['Installation', 'installation ', '', undefined]) {
    expect(await accounts.signIn(name, password, HERE)).toBeNull();
  }
});

test('Failed logins: the installation account signs in 12 times with the right password: no sign-in is counted as failed', async () => {
  const { signIn } = start();
  for (let count = 0; count < 12; count++) expect(await signIn(MQTT.password, HERE)).toBe(true);
});

test('Sign-in: a device: without a feature that knows its account it is refused, with one it gets this account', async () => {
  const { accounts } = start();
  const signIn = () => accounts.signIn('pump', Buffer.from('secret'), HERE);
  expect(await signIn()).toBeNull();
  const asked: Array<Parameters<SignInDevice>> = [];
  const pump = deviceAccount({ account: 'pump', deviceId: 'its id', devices: [] });
  accounts.signInDevicesBy(async (...parameters) => {
    asked.push(parameters);
    return pump;
  });
  expect(await signIn()).toBe(pump);
  expect(asked).toEqual([['pump', Buffer.from('secret'), HERE]]);
});
