import { closingOf, HOUR_MS } from '../../schema/rules.ts';
import { COMPLETED_TOPICS, type CompletedTopic } from './kafka/topics.ts';

/** The closed hours whose records are not yet completely in a Kafka topic. */
interface Backlog {
  topic: CompletedTopic;
  /** number of incomplete closed hours in the shard of devices that is furthest behind */
  hours: number;
  /** number of shards with an incomplete closed hour */
  shards: number;
}

/**
 * Returns the backlog of each topic.
 * @param shards progress of each shard in epoch ms; `until` is the progress of a topic that `topics` lacks
 * @param now epoch ms
 * @returns one entry for each topic
 */
export const backlogOf = (
  shards: Array<{ until: number; topics: Map<string, number> }>,
  now: number,
): Backlog[] =>
  COMPLETED_TOPICS.map((topic) => {
    const waiting = shards
      .map(({ until, topics }) => closedHours(topics.get(topic) ?? until, now))
      .filter((hours) => hours > 0);
    return { topic, hours: Math.max(0, ...waiting), shards: waiting.length };
  });

/**
 * @param until epoch ms; all hours before this hour are complete
 * @param now epoch ms
 * @returns number of closed hours, beginning with the hour `until`
 */
const closedHours = (until: number, now: number): number =>
  Math.max(0, Math.floor((now - closingOf(until)) / HOUR_MS) + 1);
