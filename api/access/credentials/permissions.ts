import { identifyDevice } from '../../../schema/ids.js';
import { STATES, STATES_2 } from '../../../schema/sparkplug-topics.js';
import { OWN_TOPICS } from '../../../schema/topics.js';

/** @import { Topic } from '../../../schema/topics.js' */
/** @import { Credential } from '../../store/credentials.js' */

const WILDCARD = /[+#]/;

/** Topics of Sparkplug commands: `spBv1.0/{group}/NCMD/{node}`, `spBv1.0/{group}/DCMD/{node}/{device}`. */
const COMMAND = /^spBv1\.0\/([^/]+)\/(?:NCMD\/([^/]+)|DCMD\/([^/]+)\/[^/]+)$/;

/**
 * The account of a client. Permissions are checked by device id, so a device may use its name or its id.
 *
 * @typedef {object} Account
 * @property {string} name the user name; empty without authentication
 * @property {boolean} isInstallation the account may do everything: an account of the installation's programs, or any client
 *   while MQTT_AUTH is off
 * @property {string} deviceId id of the device; empty for the installation
 * @property {number} writtenAt write timestamp of the credential, epoch µs
 * @property {Set<string>} speaksFor names and ids of devices for which the account may publish, as the credential lists them
 * @property {Set<string>} ids ids of the devices in `speaksFor`
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
 * Tests whether an account may publish on a topic. A device may publish on its own topics. A Sparkplug edge node may also
 * publish for its devices.
 *
 * @param {Account} account
 * @param {Topic | null} topic as `parseTopic` read it; null: the topic belongs to no device
 */
export const canPublish = (account, topic) =>
  account.isInstallation || (topic !== null && isOwn(account, topic.sparkplug?.node ?? topic.device));

/**
 * Tests whether an account may send for a device that a mapping found in a topic or a payload.
 *
 * @param {Account} account
 * @param {string} device name or id of the device
 */
export const canSendFor = (account, device) => account.isInstallation || isOwn(account, device);

/**
 * Tests whether an account may subscribe to a filter. A device may subscribe to its own level of `iot/v1`, to its commands as an edge
 * node, and to the states of hosts. Nobody may subscribe to `$` topics, which belong to the broker.
 *
 * @param {Account} account
 * @param {string} filter
 */
export function canSubscribe(account, filter) {
  if (filter.startsWith('$')) return false;
  if (account.isInstallation) return true;
  if (filter.startsWith(OWN_TOPICS))
    return isOwn(account, filter.slice(OWN_TOPICS.length).split('/', 1)[0] ?? '');
  for (const states of [STATES, STATES_2])
    if (filter.startsWith(states)) return /^[^/#]+$/.test(filter.slice(states.length));
  const [, group, nodeItself, nodeOfDevice] = COMMAND.exec(filter) ?? [];
  return group !== undefined && isOwn(account, `${group}/${nodeItself ?? nodeOfDevice}`);
}

/**
 * Tests whether a topic level denotes a device of the account. A device may be named `+` or `#`. In a filter these are
 * wildcards, so they never match.
 *
 * @param {Account} account
 * @param {string} device name or id of the device
 */
const isOwn = ({ speaksFor, ids }, device) =>
  !WILDCARD.test(device) && (speaksFor.has(device) || ids.has(identifyDevice(device)?.id ?? ''));
