import { parseSparkplugTopic } from './sparkplug-topics.js';

/** @import { SparkplugTopic } from './sparkplug-topics.js' */

/** The kinds of messages, which are the last level of Millrace's topics. */
export const KINDS = /** @type {const} */ (['measurements', 'birth', 'status']);

/** @typedef {typeof KINDS[number]} Kind */

/** The prefix of Millrace's topics, in contrast to Sparkplug topics. */
export const OWN_TOPICS = 'iot/v1/';

/**
 * The content of a topic: the device of the message, by name or id, and the kind of the message.
 *
 * @typedef {{ device: string, kind: Kind, sparkplug?: undefined }} OwnTopic
 * @typedef {{ device: string, kind: 'sparkplug', sparkplug: SparkplugTopic }} EdgeTopic
 * @typedef {OwnTopic | EdgeTopic} Topic
 */

/**
 * @param {string} topic
 * @returns {Topic | null} null: the topic is outside the contract
 */
export const parseTopic = (topic) => (topic.startsWith(OWN_TOPICS) ? parseOwn(topic) : parseEdge(topic));

/**
 * Parses `iot/v1/{device}/{kind}`. The name of a device may contain any character but the slash, which separates levels in MQTT.
 *
 * @param {string} topic
 * @returns {OwnTopic | null}
 */
function parseOwn(topic) {
  const slash = topic.indexOf('/', OWN_TOPICS.length);
  if (slash < 0) return null;
  const kind = /** @type {Kind} */ (topic.slice(slash + 1));
  return KINDS.includes(kind) ? { device: topic.slice(OWN_TOPICS.length, slash), kind } : null;
}

/**
 * Parses a Sparkplug topic. In Millrace a device of an edge node has the name `group/node/device`, the node itself `group/node`.
 *
 * @param {string} topic
 * @returns {EdgeTopic | null}
 */
function parseEdge(topic) {
  const sparkplug = parseSparkplugTopic(topic);
  if (!sparkplug) return null;
  const { node, device } = sparkplug;
  return { device: device === null ? node : `${node}/${device}`, kind: 'sparkplug', sparkplug };
}
