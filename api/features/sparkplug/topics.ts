import {
  EDGE_FILTERS,
  isBirth,
  isDeath,
  NAMESPACE,
  parseSparkplugTopic,
  type SparkplugTopic,
  STATES,
  STATES_2,
} from '../../../schema/sparkplug-topics.ts';
import type { FurtherTopics, Topic } from '../../../schema/topics.ts';
import type { HandlerDeps, ReadRule, TopicReader } from '../../ingest/topics.ts';
import type { Context } from '../../observability/index.ts';
import { createSparkplugHandler } from './handler.ts';
import { Host, Rebirths } from './host.ts';
import { takesSparkplug } from './settings.ts';
import { Sparkplug } from './sparkplug.ts';
import { createSparkplugStore } from './store.ts';

export interface EdgeTopic extends Topic {
  sparkplug: SparkplugTopic;
}

/** The device of an edge node has the name `group/node/device`, the node itself `group/node`. */
export function parseEdgeTopic(topic: string): EdgeTopic | null {
  const sparkplug = parseSparkplugTopic(topic);
  if (!sparkplug) return null;
  const { node, device, type } = sparkplug;
  return {
    device: device === null ? node : `${node}/${device}`,
    kind: 'sparkplug',
    sparkplug,
    // The edge node sends for its devices: they share its account, and one sequence of messages.
    sender: node,
    isBarrier: isBirth(type) || isDeath(type),
  };
}

/** They belong to the contract even without the setting `SPARKPLUG`, because a misspelled topic gets its suggestion from it. */
export const EDGE_TOPICS: FurtherTopics = {
  parse: parseEdgeTopic,
  filters: EDGE_FILTERS,
  prefixes: [NAMESPACE],
  isChosen: (level) => /^[ND](?:BIRTH|DATA|DEATH)$/.test(level),
};

/** The topics of edge nodes. A process without the setting `SPARKPLUG` only replays their dead letters. */
export function openEdgeTopics({ config, clock, metrics }: Context, deps: HandlerDeps): TopicReader {
  const { devices, decoder, database, send } = deps;
  const requests = metrics.declare.counter(
    'iot_sparkplug_rebirth_requests_total',
    'Births that were requested from Sparkplug edge nodes after lost or unreadable messages',
  );
  const sparkplug = new Sparkplug({
    store: createSparkplugStore(database.session),
    registry: devices.registry,
    decoder,
    retry: database.retry,
    historyDays: config.retention.historyDays,
    maxMessageBytes: config.ingest.maxMessageBytes,
    rebirths: new Rebirths({ send, clock, onRequest: () => requests.inc() }),
  });
  const isLive = takesSparkplug(config);
  const host = isLive ? new Host({ id: config.mqtt.clientId, clock }) : undefined;
  return {
    kind: 'sparkplug',
    handler: createSparkplugHandler({ clock, metrics }, deps, sparkplug),
    isLive,
    subscriptions: subscriptionsOf(host),
    presence: host,
    readRule: mayRead,
    onInterrupted: () => sparkplug.forgetBirths(),
  };
}

/**
 * One process receives all messages of edge nodes. Edge nodes should retain none of these (tck-id-topics-nbirth-mqtt and others). The host
 * also subscribes to its own state topic, to correct a wrong state from another client
 * (tck-id-message-flow-hid-sparkplug-state-message-delivered).
 */
export const subscriptionsOf = (host: Pick<Host, 'topic'> | undefined) => ({
  ...(host ? { sole: EDGE_FILTERS, states: [host.topic] } : { former: EDGE_FILTERS }),
  hint: 'set SPARKPLUG to false if you do not need it',
});

const COMMAND = /^spBv1\.0\/([^/]+)\/(?:NCMD\/([^/]+)|DCMD\/([^/]+)\/[^/]+)$/;

/** An edge node may subscribe to its commands, and every device to the states of hosts. */
export const mayRead: ReadRule = (filter, isOwn) => {
  for (const states of [STATES, STATES_2])
    if (filter.startsWith(states)) return /^[^/#]+$/.test(filter.slice(states.length));
  const [, group, nodeItself, nodeOfDevice] = COMMAND.exec(filter) ?? [];
  return group !== undefined && isOwn(`${group}/${nodeItself ?? nodeOfDevice}`);
};
