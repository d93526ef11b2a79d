import { closingOf, HOUR_MS } from '../../schema/rules.js';
import { COMPLETED_TOPICS } from './kafka/topics.js';

/** @import { CompletedTopic } from './kafka/topics.js' */

/**
 * The hours that a topic lacks.
 *
 * @typedef {object} Backlog
 * @property {CompletedTopic} topic
 * @property {number} hours closed hours that are not complete, in the shard that is furthest behind
 * @property {number} shards number of shards with such an hour
 */

/**
 * @param {Array<{ until: number, topics: Map<string, number> }>} shards their progress in epoch ms; `until`
 *   is the progress of a missing topic
 * @param {number} now epoch ms
 * @returns {Backlog[]} of each topic
 */
export const backlogOf = (shards, now) =>
  COMPLETED_TOPICS.map((topic) => {
    const waiting = shards
      .map(({ until, topics }) => closedHours(topics.get(topic) ?? until, now))
      .filter((hours) => hours > 0);
    return { topic, hours: Math.max(0, ...waiting), shards: waiting.length };
  });

/**
 * @param {number} until epoch ms of an hour
 * @param {number} now epoch ms
 * @returns {number} number of closed hours, beginning with this one
 */
const closedHours = (until, now) => Math.max(0, Math.floor((now - closingOf(until)) / HOUR_MS) + 1);
