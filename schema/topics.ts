export const KINDS = ['measurements', 'birth', 'status'] as const;

type Kind = (typeof KINDS)[number];

export const OWN_TOPICS = 'iot/v1/';

/** A topic that ingest reads. */
export interface Topic {
  kind: string;
  /** name or id; empty: the payload names the device */
  device: string;
  /** Name or id of the device that sends it, if this is another one. Its account may publish, and its messages share one queue. */
  sender?: string;
  /** Later messages of the queue wait for this one. */
  isBarrier?: boolean;
}

export interface OwnTopic extends Topic {
  kind: Kind;
}

/** Null: the topic is not one of the core. The name of a device may contain any character but the slash, which separates levels in MQTT. */
export function parseTopic(topic: string): OwnTopic | null {
  if (!topic.startsWith(OWN_TOPICS)) return null;
  const slash = topic.indexOf('/', OWN_TOPICS.length);
  if (slash < 0) return null;
  const kind = topic.slice(slash + 1) as Kind;
  return KINDS.includes(kind) ? { device: topic.slice(OWN_TOPICS.length, slash), kind } : null;
}

/** Topics that a feature adds to those of the core. Each names the device, so that only its account may publish on it. */
export interface FurtherTopics {
  parse: (topic: string) => Topic | null;
  filters: string[];
  /** Topics that begin with one of them have no other reader. */
  prefixes: string[];
  /** a level that only the sender can choose, so no suggestion for a misspelled topic adds it */
  isChosen?: (level: string) => boolean;
}

/** The topics of the core and of `further`. */
export function topicContract(further: FurtherTopics[]): FurtherTopics {
  return {
    prefixes: ['iot/', '$', ...further.flatMap(({ prefixes }) => prefixes)],
    isChosen: (level) => further.some(({ isChosen }) => isChosen?.(level)),
    filters: [...KINDS.map((kind) => `${OWN_TOPICS}+/${kind}`), ...further.flatMap(({ filters }) => filters)],
    parse: further.reduce<FurtherTopics['parse']>(
      (before, { parse }) =>
        (topic) =>
          before(topic) ?? parse(topic),
      parseTopic,
    ),
  };
}
