import { EDGE_FILTERS } from '../../../schema/sparkplug-topics.js';
import { KINDS } from '../../../schema/topics.js';
import { deviceAccount } from '../../access/credentials/permissions.js';

/** @import { Credential } from '../../store/credentials.js' */

/** What a user name in Mosquitto's files cannot hold: a colon ends it there, a hash begins a comment, white space is cut off. */
const UNFIT = /:|^#|^\s|\s$/;

/** What stands for others in a topic; a level that ends a line, and so must not end in white space. */
const WILDCARD = /[+#]/;
const NODE = /^([^/+#]+)\/([^/+#]*[^/+#\s])$/;

/** The rights of our own programs, as `infra/compose/mosquitto.acl` has them. */
export const INSTALLATION_RIGHTS = [
  'topic readwrite iot/#',
  ...EDGE_FILTERS.map((filter) => `topic read ${filter}`),
  'topic write spBv1.0/+/NCMD/+',
  'topic readwrite spBv1.0/STATE/+',
  'topic read $SYS/broker/publish/messages/dropped',
];

/** @param {string} account @returns {boolean} whether Mosquitto can know it by this name */
export const isFit = (account) => !UNFIT.test(account);

/** @param {string} account @param {string} hash as `hashSecret` makes it @returns {string} a line of the password file */
export const passwordLine = (account, hash) => `${account}:${hash}`;

/**
 * The same rights as in the embedded broker, topic by topic: Mosquitto's patterns would take a name such as `+` for everybody.
 *
 * @param {Credential} credential
 * @returns {string[]} lines of the access file
 */
export function rightsLines(credential) {
  const { speaksFor, ids } = deviceAccount(credential);
  const topics = [...new Set([...speaksFor, ...ids])].flatMap(topicsOf);
  return [`user ${credential.account}`, ...topics, 'topic read spBv1.0/STATE/+'];
}

/** @param {string} device its name or id @returns {string[]} */
function topicsOf(device) {
  const [, group, node] = NODE.exec(device) ?? [];
  if (group && node) return topicsOfNode(group, node);
  // What has a slash or a wildcard is no level of a topic; such a device uses its id.
  if (device.includes('/') || WILDCARD.test(device)) return [];
  return [...KINDS.map((kind) => `topic write iot/v1/${device}/${kind}`), `topic read iot/v1/${device}/#`];
}

/** @param {string} group @param {string} node */
const topicsOfNode = (group, node) => [
  ...EDGE_FILTERS.map((filter) => `topic write ${filter.replace('+', () => group).replace('+', () => node)}`),
  `topic read spBv1.0/${group}/NCMD/${node}`,
  `topic read spBv1.0/${group}/DCMD/${node}/+`,
];
