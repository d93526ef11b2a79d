import { identifyDevice } from '../../../schema/ids.js';
import { STATES } from '../../../schema/sparkplug-topics.js';
import { OWN_TOPICS, parseTopic } from '../../../schema/topics.js';

/** @import { Credential } from '../../store/credentials.js' */

const WILDCARD = /[+#]/;

/** Sparkplug's commands: `spBv1.0/{group}/NCMD/{node}`, `spBv1.0/{group}/DCMD/{node}/{device}`. */
const COMMAND = /^spBv1\.0\/([^/]+)\/(?:NCMD\/([^/]+)|DCMD\/([^/]+)\/[^/]+)$/;

/**
 * Whoever is connected. A device is held to what is its own by its id, so that it may use its name and its id alike.
 *
 * @typedef {object} Account
 * @property {string} name as whom it signed in; empty for who did not have to
 * @property {boolean} isInstallation it may do everything: our own programs, and everybody where MQTT_AUTH is off
 * @property {string} deviceId empty for the installation
 * @property {number} writtenAt of its credential, epoch µs
 * @property {Set<string>} speaksFor names and ids of devices as they were given
 * @property {Set<string>} ids of the same devices
 */

/** @param {string} name @returns {Account} */
export const installationAccount = (name) => ({
  name,
  isInstallation: true,
  deviceId: '',
  writtenAt: 0,
  speaksFor: new Set(),
  ids: new Set(),
});

/** @param {Pick<Credential, 'account' | 'deviceId' | 'devices' | 'writtenAt'>} credential @returns {Account} */
export function deviceAccount({ account, deviceId, devices, writtenAt }) {
  const speaksFor = new Set();
  const ids = new Set();
  for (const text of [account, ...devices]) {
    const identity = identifyDevice(text);
    if (!identity) continue;
    speaksFor.add(text);
    ids.add(identity.id);
  }
  return { name: account, isInstallation: false, deviceId, writtenAt, speaksFor, ids };
}

/**
 * Whether it may publish on a topic: a device may on its own, which is what `parseTopic` knows of it. An edge node of Sparkplug
 * speaks for the devices below it.
 *
 * @param {Account} account
 * @param {string} topic
 */
export function canPublish(account, topic) {
  if (account.isInstallation) return true;
  const parsed = parseTopic(topic);
  return parsed !== null && isOwn(account, parsed.sparkplug?.node ?? parsed.device);
}

/**
 * Whether it may subscribe to a filter: a device may to what is below its own level of `iot/v1`, to its commands as an edge node, and to the
 * states of hosts. What begins with a dollar sign is the broker's own, and nobody's.
 *
 * @param {Account} account
 * @param {string} filter
 */
export function canSubscribe(account, filter) {
  if (filter.startsWith('$')) return false;
  if (account.isInstallation) return true;
  if (filter.startsWith(OWN_TOPICS))
    return isOwn(account, filter.slice(OWN_TOPICS.length).split('/', 1)[0] ?? '');
  if (filter.startsWith(STATES)) return /^[^/#]+$/.test(filter.slice(STATES.length));
  const [, group, nodeItself, nodeOfDevice] = COMMAND.exec(filter) ?? [];
  return group !== undefined && isOwn(account, `${group}/${nodeItself ?? nodeOfDevice}`);
}

/**
 * A device may be called `+` or `#`; in a filter that is everybody, and in a topic nothing.
 *
 * @param {Account} account
 * @param {string} device its name or id
 */
const isOwn = ({ speaksFor, ids }, device) =>
  !WILDCARD.test(device) && (speaksFor.has(device) || ids.has(identifyDevice(device)?.id ?? ''));
