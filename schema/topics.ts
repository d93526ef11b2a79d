// The contract has the topics of Sparkplug even where no feature reads them, because a misspelled topic gets its suggestion from it.
import { isBirth, isDeath, parseSparkplugTopic, type SparkplugTopic } from './sparkplug-topics.ts';

export const KINDS = ['measurements', 'birth', 'status'] as const;

type Kind = (typeof KINDS)[number];

export const OWN_TOPICS = 'iot/v1/';

export type OwnTopic = { device: string; kind: Kind; sender?: undefined; isBarrier?: undefined };

export type EdgeTopic = {
  device: string;
  kind: 'sparkplug';
  sparkplug: SparkplugTopic;
  /** the edge node, which sends for its devices: they share its account, and one sequence of messages */
  sender: string;
  /** later messages of the sender wait for this one */
  isBarrier: boolean;
};

export type Topic = OwnTopic | EdgeTopic;

/** Null: the topic is outside the contract. */
export const parseTopic = (topic: string): Topic | null =>
  topic.startsWith(OWN_TOPICS) ? parseOwn(topic) : parseEdge(topic);

/** The name of a device may contain any character but the slash, which separates levels in MQTT. */
function parseOwn(topic: string): OwnTopic | null {
  const slash = topic.indexOf('/', OWN_TOPICS.length);
  if (slash < 0) return null;
  const kind = topic.slice(slash + 1) as Kind;
  return KINDS.includes(kind) ? { device: topic.slice(OWN_TOPICS.length, slash), kind } : null;
}

/** In Millrace a device of an edge node has the name `group/node/device`, the node itself `group/node`. */
function parseEdge(topic: string): EdgeTopic | null {
  const sparkplug = parseSparkplugTopic(topic);
  if (!sparkplug) return null;
  const { node, device, type } = sparkplug;
  return {
    device: device === null ? node : `${node}/${device}`,
    kind: 'sparkplug',
    sparkplug,
    sender: node,
    isBarrier: isBirth(type) || isDeath(type),
  };
}
