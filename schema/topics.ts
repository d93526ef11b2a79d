import { parseSparkplugTopic, type SparkplugTopic } from './sparkplug-topics.ts';

export const KINDS = ['measurements', 'birth', 'status'] as const;

type Kind = (typeof KINDS)[number];

export const OWN_TOPICS = 'iot/v1/';

export type OwnTopic = { device: string; kind: Kind; sparkplug?: undefined };

export type EdgeTopic = { device: string; kind: 'sparkplug'; sparkplug: SparkplugTopic };

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
  const { node, device } = sparkplug;
  return { device: device === null ? node : `${node}/${device}`, kind: 'sparkplug', sparkplug };
}
