import type { RequestHandler } from 'express';
import type { Config } from '../../../common/settings/config.ts';
import { formatTime } from '../../../common/times.ts';
import { suggestTopic } from '../../../schema/topic-suggestion.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { json, readQuery } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import type { Topics } from '../../ingest/topics.ts';
import { proposeMappings } from './proposal.ts';
import { SCHEMAS } from './schemas.ts';
import type { UnmatchedTopic, UnmatchedTopics } from './unmatched-topics.ts';

interface Deps {
  unmatchedTopics: UnmatchedTopics;
  context: { config: Pick<Config, 'role' | 'mqtt'> };
  ingest: { topics: Pick<Topics, 'contract' | 'isReserved'> };
}

export const getUnmatchedTopics =
  ({
    unmatchedTopics,
    ingest,
    context: {
      config: { role, mqtt },
    },
  }: Deps): RequestHandler =>
  (req, res) => {
    readQuery(req, {});
    const { since } = unmatchedTopics;
    const unmatched = unmatchedTopics
      .list()
      .map((item) => ({ ...item, suggestion: suggestTopic(item.topic, ingest.topics.contract) }));
    const mappable = unmatched.filter(
      ({ topic, suggestion }) => suggestion === null && !ingest.topics.isReserved(topic),
    );
    const drafts = new Map(proposeMappings(mappable).map((draft, index) => [mappable[index]?.topic, draft]));
    res.json({
      items: unmatched.map((item) => unmatchedItem(item, drafts.get(item.topic) ?? null)),
      since: formatTime(since),
      source: role === 'http' ? 'none' : mqtt.url === undefined ? 'embedded' : 'external',
    });
  };

const unmatchedItem = (
  { topic, count, seenAt, size, payload, suggestion }: UnmatchedTopic & { suggestion: string | null },
  mapping: string | null,
) => ({
  topic,
  count,
  ts: formatTime(seenAt),
  size,
  payload_base64: payload.toString('base64'),
  suggestion,
  mapping,
});

export const listUnmatchedTopics: Operation = {
  id: 'listUnmatchedTopics',
  tag: 'operation',
  scope: 'read',
  summary: 'Topics on which clients publish, and which neither the contract nor a mapping has',
  description: `The embedded broker acknowledges these messages, to MQTT 5 with the reason code 0x90. Millrace drops and counts them. The process that answers lists what it has received since \`since\`: the 200 topics that
were seen last, the newest first. \`mapping\` is the draft of an entry for the file of MQTT_MAPPINGS. Topics of one pattern get the same draft. \`source\` is \`embedded\` if this process is the broker, so it receives every message. It is \`external\` behind another
broker: subscriptions match the topics of the contract and of mappings only, so other messages never arrive. It is \`none\` if this process receives nothing over MQTT.`,
  answers: { 200: json(SCHEMAS.UnmatchedTopics) },
  problems: ['bad_parameter'],
};

export const routes: Array<Route<Deps>> = [
  {
    method: 'get',
    path: '/api/v1/unmatched-topics',
    operation: listUnmatchedTopics,
    handler: getUnmatchedTopics,
  },
];
