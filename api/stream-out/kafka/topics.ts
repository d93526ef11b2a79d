/** @import { Config } from '../../../common/settings/config.js' */

/**
 * Topics by content, with the settings that `npm run stream -- init` applies. The name of each topic ends with the version of
 * its record format.
 *
 * @satisfies {Record<string, { holds: string, settings: Record<string, string> }>}
 */
export const TOPICS = {
  batches: {
    holds: 'Committed blocks of samples, by device',
    settings: { 'cleanup.policy': 'delete', 'retention.ms': String(7 * 86_400_000) },
  },
  latest: {
    holds: 'The newest value of each sensor',
    settings: { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0.1' },
  },
  events: {
    holds: 'Births of devices, and when they went online and offline',
    settings: { 'cleanup.policy': 'delete', 'retention.ms': String(7 * 86_400_000) },
  },
  'dead-letters': {
    holds: 'Refused messages with their reasons',
    settings: { 'cleanup.policy': 'delete', 'retention.ms': String(7 * 86_400_000) },
  },
  alarms: {
    holds: 'Transitions of alarms: opened, cleared, acknowledged, corrected',
    settings: { 'cleanup.policy': 'delete', 'retention.ms': String(7 * 86_400_000) },
  },
  watermarks: {
    holds: 'Until when a shard of devices is complete',
    settings: { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0.1' },
  },
};

/** @typedef {keyof typeof TOPICS} TopicKind */

/** The topic of each kind of announcement. */
export const ANNOUNCED_TOPICS = /** @type {const} */ ({
  event: 'events',
  dead_letter: 'dead-letters',
  alarm: 'alarms',
});

/** Topics that are completed for each hour. A watermark has the progress of each of these topics. @satisfies {TopicKind[]} */
export const COMPLETED_TOPICS = /** @type {const} */ (['batches', ...Object.values(ANNOUNCED_TOPICS)]);

/** @typedef {typeof COMPLETED_TOPICS[number]} CompletedTopic */

/** @param {string} prefix `STREAM_TOPIC_PREFIX` @param {TopicKind} kind @returns {string} such as `millrace.batches.v1` */
export const topicName = (prefix, kind) => `${prefix}.${kind}.v1`;

/** @param {Config['stream']} stream @returns {TopicKind[]} the topics that get records with these settings */
export const usedTopics = (stream) =>
  /** @type {TopicKind[]} */ (Object.keys(TOPICS)).filter((kind) => kind !== 'latest' || stream.latest);
