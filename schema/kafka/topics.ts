import type { KafkaSettings } from './settings.ts';

/** `npm run stream -- init` applies these settings. The name of each topic ends with the version of its record format. */
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
  corrections: {
    holds: 'Corrections of stored samples: replaced, removed, undone',
    settings: { 'cleanup.policy': 'delete', 'retention.ms': String(7 * 86_400_000) },
  },
  watermarks: {
    holds: 'Until when a shard of devices is complete',
    settings: { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0.1' },
  },
} satisfies Record<string, { holds: string; settings: Record<string, string> }>;

export type TopicKind = keyof typeof TOPICS;

export const ANNOUNCED_TOPICS = {
  event: 'events',
  dead_letter: 'dead-letters',
  alarm: 'alarms',
  correction: 'corrections',
} as const;

export type AnnouncedKind = keyof typeof ANNOUNCED_TOPICS;

/** A watermark has the progress of each of these topics. */
export const COMPLETED_TOPICS = [
  'batches',
  ...Object.values(ANNOUNCED_TOPICS),
] as const satisfies TopicKind[];

export type CompletedTopic = (typeof COMPLETED_TOPICS)[number];

export const topicName = (prefix: string, kind: TopicKind): string => `${prefix}.${kind}.v1`;

export const usedTopics = (stream: KafkaSettings): TopicKind[] =>
  (Object.keys(TOPICS) as TopicKind[]).filter((kind) => kind !== 'latest' || stream.latest);

/** A topic accepts no records, although other topics may. */
export class TopicRefused extends Error {
  declare topic: string;

  constructor(topic: string, reason: string) {
    super(`${topic}: ${reason}`);
    this.name = 'TopicRefused';
    this.topic = topic;
  }
}
