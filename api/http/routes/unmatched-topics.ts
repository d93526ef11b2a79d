import { formatTime } from '../../../common/times.js';
import { suggestTopic } from '../../../schema/topic-suggestion.js';
import { proposeMappings } from '../../ingest/mappings/index.js';
import { json } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { UnmatchedTopic } from '../../ingest/unmatched-topics.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

/**
 * `GET /unmatched-topics`: lists the topics outside the contract on which clients publish.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getUnmatchedTopics =
  ({ unmatchedTopics, takesMqtt, mqtt }) =>
  (req, res) => {
    readQuery(req, {});
    const { since } = unmatchedTopics;
    const unmatched = unmatchedTopics
      .list()
      .map((item) => ({ ...item, suggestion: suggestTopic(item.topic) }));
    const drafts = proposeMappings(unmatched.filter(({ suggestion }) => suggestion === null));
    res.json({
      items: unmatched.map((item) =>
        unmatchedItem(item, item.suggestion === null ? (drafts.shift() ?? null) : null),
      ),
      since: formatTime(since),
      source: takesMqtt ? (mqtt()?.embedded ? 'embedded' : 'external') : 'none',
    });
  };

/** @param {UnmatchedTopic & { suggestion: string | null }} unmatched @param {string | null} mapping */
const unmatchedItem = ({ topic, count, seenAt, size, payload, suggestion }, mapping) => ({
  topic,
  count,
  ts: formatTime(seenAt),
  size,
  payload_base64: payload.toString('base64'),
  suggestion,
  mapping,
});

/** @type {Operation} */
export const listUnmatchedTopics = {
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
