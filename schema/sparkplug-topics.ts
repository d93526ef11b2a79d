export const NAMESPACE = 'spBv1.0/';

/** Host applications publish their state below this prefix. */
export const STATES = `${NAMESPACE}STATE/`;

/** tck-id-topic-structure-namespace-device-id-non-associated-message-types */
const OF_NODES = ['NBIRTH', 'NDATA', 'NDEATH'] as const;

/** The topics of devices have one more level. */
const OF_DEVICES = ['DBIRTH', 'DDATA', 'DDEATH'] as const;

export interface SparkplugTopic {
  type: (typeof OF_NODES)[number] | (typeof OF_DEVICES)[number];
  /** the edge node's name in Millrace, `group/node`, which is unique in an installation */
  node: string;
  /** topic on which the edge node takes commands */
  command: string;
  /** null: a message of the node itself */
  device: string | null;
}

/** All topics on which edge nodes publish. Hosts publish commands and states. */
export const EDGE_FILTERS = [
  ...OF_NODES.map((type) => `${NAMESPACE}+/${type}/+`),
  ...OF_DEVICES.map((type) => `${NAMESPACE}+/${type}/+/+`),
];

/** tck-id-host-topic-phid-birth-topic */
export const stateTopic = (host: string): string => `${STATES}${host}`;

/** Sparkplug 2.2 */
export const STATES_2 = 'STATE/';

/** Null: edge nodes do not publish on this topic (tck-id-topic-structure). */
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
