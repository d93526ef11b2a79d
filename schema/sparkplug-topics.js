const NAMESPACE = 'spBv1.0/';

/** The prefix of topics on which hosts publish their state. */
export const STATES = `${NAMESPACE}STATE/`;

/** Message types of edge nodes themselves (tck-id-topic-structure-namespace-device-id-non-associated-message-types). */
const OF_NODES = /** @type {const} */ (['NBIRTH', 'NDATA', 'NDEATH']);

/** Message types of their devices, whose topic has one level more. */
const OF_DEVICES = /** @type {const} */ (['DBIRTH', 'DDATA', 'DDEATH']);

/**
 * The sender of a message, and its type.
 *
 * @typedef {object} SparkplugTopic
 * @property {typeof OF_NODES[number] | typeof OF_DEVICES[number]} type
 * @property {string} node the edge node's name here, `group/node`, which is unique in an installation
 * @property {string} command the topic on which the edge node takes commands
 * @property {string | null} device the last level; null for a message of the node itself
 */

/**
 * The topics that edge nodes publish, as filters of a subscription. Hosts publish commands and states, so these are not among them.
 */
export const EDGE_FILTERS = [
  ...OF_NODES.map((type) => `${NAMESPACE}+/${type}/+`),
  ...OF_DEVICES.map((type) => `${NAMESPACE}+/${type}/+/+`),
];

/**
 * @param {string} host id of a host application
 * @returns {string} the topic of its state (tck-id-host-topic-phid-birth-topic)
 */
export const stateTopic = (host) => `${STATES}${host}`;

/**
 * `spBv1.0/{group}/{type}/{node}[/{device}]` (tck-id-topic-structure).
 *
 * @param {string} topic
 * @returns {SparkplugTopic | null} null: nothing that an edge node publishes
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
