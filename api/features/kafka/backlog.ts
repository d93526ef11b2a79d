import { COMPLETED_TOPICS, type CompletedTopic } from '../../../schema/kafka/topics.ts';
import { closingOf, HOUR_MS } from '../../../schema/rules.ts';

/** Closed hours whose records are not yet completely in a Kafka topic. */
interface Backlog {
  topic: CompletedTopic;
  /** closed hours, in the shard of devices that is furthest behind */
  hours: number;
  /** shards with an incomplete closed hour */
  shards: number;
}

/** `until`, in epoch ms, is the progress of a topic that `topics` lacks. Returns one entry for each topic. */
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

const closedHours = (until: number, now: number): number =>
  Math.max(0, Math.floor((now - closingOf(until)) / HOUR_MS) + 1);
