const NAMESPACE = 'spBv1.0/';

/** The prefix of the topics on which host applications publish their state. */
export const STATES = `${NAMESPACE}STATE/`;

/** Message types about an edge node itself (tck-id-topic-structure-namespace-device-id-non-associated-message-types). */
const OF_NODES = ['NBIRTH', 'NDATA', 'NDEATH'] as const;

/** Message types about the devices of an edge node. Their topics have one more level. */
const OF_DEVICES = ['DBIRTH', 'DDATA', 'DDEATH'] as const;

/** The sender and the type of a Sparkplug message. */
export interface SparkplugTopic {
  type: (typeof OF_NODES)[number] | (typeof OF_DEVICES)[number];
  /** the edge node's name in Millrace, `group/node`, which is unique in an installation */
  node: string;
  /** the topic on which the edge node takes commands */
  command: string;
  /** the last level; null for a message of the node itself */
  device: string | null;
}

/**
 * Subscription filters for all topics on which edge nodes publish. Commands and states are not included, because hosts publish them.
 */
export const EDGE_FILTERS = [
  ...OF_NODES.map((type) => `${NAMESPACE}+/${type}/+`),
  ...OF_DEVICES.map((type) => `${NAMESPACE}+/${type}/+/+`),
];

/**
 * @param host id of a host application
 * @returns the topic on which the host publishes its state (tck-id-host-topic-phid-birth-topic)
 */
export const stateTopic = (host: string): string => `${STATES}${host}`;

/** Begin of the state topics of Sparkplug 2.2. */
export const STATES_2 = 'STATE/';

/**
 * Parses a topic of the form `spBv1.0/{group}/{type}/{node}[/{device}]` (tck-id-topic-structure).
 * @returns null: edge nodes do not publish on this topic
 */
export function parseSparkplugTopic(topic: string): SparkplugTopic | null {
  if (!topic.startsWith(NAMESPACE)) return null;
  const [group, type, node, device, ...more] = topic.slice(NAMESPACE.length).split('/');
  if (!group || !node || more.length > 0) return null;
  const whose = { node: `${group}/${node}`, command: `${NAMESPACE}${group}/NCMD/${node}` };
  if (device === undefined && isOneOf(OF_NODES, type)) return { ...whose, type, device: null };
  if (device && isOneOf(OF_DEVICES, type)) return { ...whose, type, device };
  return null;
}

export const isBirth = (type: SparkplugTopic['type']) => type === 'NBIRTH' || type === 'DBIRTH';

export const isDeath = (type: SparkplugTopic['type']) => type === 'NDEATH' || type === 'DDEATH';

const isOneOf = <T extends string>(types: readonly T[], type: string | undefined): type is T =>
  types.some((one) => one === type);
