import { chmod, chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, MillraceError } from '../../../../common/errors.ts';
import { printable } from '../../../../common/printable.ts';
import { KINDS } from '../../../../schema/topics.ts';
import { deviceAccount } from '../../../access/index.ts';
import type { BrokerRights } from '../../../feature.ts';
import { hashSecret } from '../secret.ts';
import type { Credential } from '../store.ts';
import type { CommandParts } from './command.ts';

/** The `password_file` and `acl_file` contain every account with a credential, and the account of the installation. */
export async function mosquitto(parts: CommandParts) {
  const { credentialService, given, installation, brokerRights, note } = parts;
  const { username, password } = installation;
  const passwords: string[] = [];
  const rights: string[] = [];
  if (username && password && isFit(username)) {
    passwords.push(passwordLine(username, await hashSecret(password)));
    const further = brokerRights.flatMap((rights) => rights.installation ?? []).map(lineOf);
    const own = [...INSTALLATION_RIGHTS, ...further];
    rights.push(`user ${username}`, ...own, '');
  } else {
    note(
      'MQTT_USERNAME or MQTT_PASSWORD is not set, or Mosquitto does not allow the name. So the programs of the installation cannot sign in.',
    );
  }
  let written = 0;
  for await (const credential of credentialService.all()) {
    const { account, hash } = credential;
    if (account === username || !isFit(account)) {
      note(`${printable(account)}: left out. ${account === username ? NAME_TAKEN : NAME_INVALID}`);
      continue;
    }
    passwords.push(passwordLine(account, hash));
    rights.push(...rightsLines(credential, brokerRights), '');
    written++;
  }
  await mkdir(given.out, { recursive: true, mode: 0o700 });
  const files = { passwords: join(given.out, 'passwords'), acl: join(given.out, 'acl') };
  const states = [
    await replaceFile(files.passwords, text(passwords)),
    await replaceFile(files.acl, text(rights)),
  ];
  note(`${written === 1 ? '1 device' : `${written} devices`} in ${files.passwords} and ${files.acl}.`);
  if (!states.every(({ isHandedOver }) => isHandedOver)) note(handOver(given.out));
  note(NEXT_STEP);
}

const text = (lines: string[]) => lines.map((line) => `${line}\n`).join('');

const NAME_TAKEN = 'MQTT_USERNAME has this name.';
const NAME_INVALID =
  'A user name in the files of Mosquitto has no colon, no # at its beginning and no space at its ends. Issue the credential by the UUID of the device.';
const NEXT_STEP =
  'Send SIGHUP to Mosquitto. It reads both files again and disconnects clients whose password is no longer valid.';

const handOver = (directory: string) =>
  `Only the owner can read the files. If Mosquitto runs as another user: chown -R mosquitto: ${directory}. Later runs keep the owner.`;

/**
 * Only the owner may read a new file. If the group may read the old file, it may also read the new file. On Debian this is the group of the
 * broker.
 */
const FOR_OWNER = 0o600;
const GROUP_READS = 0o040;

/**
 * Replaces a file atomically. The new file belongs to the owner of the old file, or else of the directory. So
 * Mosquitto can still read a file whose owner was changed for it.
 * @throws `failed` if this user may not change the owner; the old file stays
 */
async function replaceFile(path: string, text: string): Promise<{ isHandedOver: boolean }> {
  const directory = await stat(dirname(path));
  const before = await stat(path).catch(() => null);
  const { uid, gid } = before ?? directory;
  const mode = FOR_OWNER | ((before?.mode ?? 0) & GROUP_READS);
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { mode: FOR_OWNER });
    await chown(draft, uid, gid);
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    if (codeOf(error) !== 'EPERM') throw error;
    throw new MillraceError(
      'failed',
      `${path} stays as it was: it belongs to user ${uid} and group ${gid}. Write it as that user, or as root.`,
      { cause: error },
    );
  }
  const isAnothers = uid !== process.getuid?.() && uid === directory.uid;
  return { isHandedOver: isAnothers || (mode & GROUP_READS) !== 0 };
}

/** Mosquitto's files cannot hold these names. A colon ends the name, a hash starts a comment, and white space is trimmed. */
const INVALID_NAME = /:|^#|^\s|\s$/;

const WILDCARD = /[+#]/;

/** With those of features equal to those in `infra/mosquitto/mosquitto.acl`. */
export const INSTALLATION_RIGHTS = [
  'topic readwrite iot/#',
  'topic read $SYS/broker/publish/messages/dropped',
];

const lineOf = (right: string) => `topic ${right}`;

export const isFit = (account: string): boolean => !INVALID_NAME.test(account);

export const passwordLine = (account: string, hash: string): string => `${account}:${hash}`;

/**
 * Equal to the permissions at the embedded broker, topic by topic. Mosquitto's patterns are not used, because a name such as `+` would be a
 * wildcard in them.
 */
export function rightsLines(credential: Credential, brokerRights: BrokerRights[]): string[] {
  const { speaksFor, ids } = deviceAccount(credential);
  const topics = [...new Set([...speaksFor, ...ids])].flatMap((device) => [
    ...topicsOf(device),
    ...brokerRights.flatMap((rights) => rights.device?.(device) ?? []).map(lineOf),
  ]);
  const common = brokerRights.flatMap(({ everyDevice = [] }) => everyDevice).map(lineOf);
  return [`user ${credential.account}`, ...topics, ...common];
}

function topicsOf(device: string): string[] {
  // A name with a slash or a wildcard cannot be a topic level. A device with such a name uses its id in topics.
  if (device.includes('/') || WILDCARD.test(device)) return [];
  return [...KINDS.map((kind) => `topic write iot/v1/${device}/${kind}`), `topic read iot/v1/${device}/#`];
}
