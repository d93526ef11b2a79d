const NAMESPACE = 'spBv1.0/';

/** The prefix of the topics on which host applications publish their state. */
export const STATES = `${NAMESPACE}STATE/`;

/** Message types about an edge node itself (tck-id-topic-structure-namespace-device-id-non-associated-message-types). */
const OF_NODES = /** @type {const} */ (['NBIRTH', 'NDATA', 'NDEATH']);

/** Message types about the devices of an edge node. Their topics have one more level. */
const OF_DEVICES = /** @type {const} */ (['DBIRTH', 'DDATA', 'DDEATH']);

/**
 * The sender and the type of a Sparkplug message.
 *
 * @typedef {object} SparkplugTopic
 * @property {typeof OF_NODES[number] | typeof OF_DEVICES[number]} type
 * @property {string} node the edge node's name in Millrace, `group/node`, which is unique in an installation
 * @property {string} command the topic on which the edge node takes commands
 * @property {string | null} device the last level; null for a message of the node itself
 */

/**
 * Subscription filters for all topics on which edge nodes publish. Commands and states are not included, because hosts publish them.
 */
export const EDGE_FILTERS = [
  ...OF_NODES.map((type) => `${NAMESPACE}+/${type}/+`),
  ...OF_DEVICES.map((type) => `${NAMESPACE}+/${type}/+/+`),
];

/**
 * @param {string} host id of a host application
 * @returns {string} the topic on which the host publishes its state (tck-id-host-topic-phid-birth-topic)
 */
export const stateTopic = (host) => `${STATES}${host}`;

/** Begin of the state topics of Sparkplug 2.2. */
export const STATES_2 = 'STATE/';

/**
 * Parses a topic of the form `spBv1.0/{group}/{type}/{node}[/{device}]` (tck-id-topic-structure).
 *
 * @param {string} topic
 * @returns {SparkplugTopic | null} null: edge nodes do not publish on this topic
 */
export function parseSparkplugTopic(topic) {
  if (!topic.startsWith(NAMESPACE)) return null;
  const [group, type, node, device, ...more] = topic.slice(NAMESPACE.length).split('/');
  if (!group || !node || more.length > 0) return null;
  const whose = { node: `${group}/${node}`, command: `${NAMESPACE}${group}/NCMD/${node}` };
  if (device === undefined && isOneOf(OF_NODES, type)) return { ...whose, type, device: null };
  if (device && isOneOf(OF_DEVICES, type)) return { ...whose, type, device };
  return null;
}

/** @param {SparkplugTopic['type']} type */
export const isBirth = (type) => type === 'NBIRTH' || type === 'DBIRTH';

/** @param {SparkplugTopic['type']} type */
export const isDeath = (type) => type === 'NDEATH' || type === 'DDEATH';

/**
 * @template {string} T
 * @param {readonly T[]} types
 * @param {string | undefined} type
 * @returns {type is T}
 */
const isOneOf = (types, type) => types.some((one) => one === type);
