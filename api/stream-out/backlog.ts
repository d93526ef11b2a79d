import { closingOf, HOUR_MS } from '../../schema/rules.js';
import { COMPLETED_TOPICS } from './kafka/topics.js';

/** @import { CompletedTopic } from './kafka/topics.js' */

/**
 * The closed hours whose records are not yet completely in a Kafka topic.
 *
 * @typedef {object} Backlog
 * @property {CompletedTopic} topic
 * @property {number} hours number of incomplete closed hours in the shard of devices that is furthest behind
 * @property {number} shards number of shards with an incomplete closed hour
 */

/**
 * Returns the backlog of each topic.
 *
 * @param {Array<{ until: number, topics: Map<string, number> }>} shards progress of each shard in epoch ms; `until` is the
 *   progress of a topic that `topics` lacks
 * @param {number} now epoch ms
 * @returns {Backlog[]} one entry for each topic
 */
export const backlogOf = (shards, now) =>
  COMPLETED_TOPICS.map((topic) => {
    const waiting = shards
      .map(({ until, topics }) => closedHours(topics.get(topic) ?? until, now))
      .filter((hours) => hours > 0);
    return { topic, hours: Math.max(0, ...waiting), shards: waiting.length };
  });

/**
 * @param {number} until epoch ms; all hours before this hour are complete
 * @param {number} now epoch ms
 * @returns {number} number of closed hours, beginning with the hour `until`
 */
const closedHours = (until, now) => Math.max(0, Math.floor((now - closingOf(until)) / HOUR_MS) + 1);
