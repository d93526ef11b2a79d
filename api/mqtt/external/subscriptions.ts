import type { ISubscriptionMap, MqttClient } from 'mqtt';
import { EDGE_FILTERS } from '../../../schema/sparkplug-topics.ts';
import type { Host } from '../../ingest/sparkplug/host.ts';
import type { Subscriptions } from '../../ingest/topics.ts';

/** Every process gets births and statuses: shared subscriptions get no retained messages, and a birth must arrive before measurements. */
const subscriptionsOf = (group: string): ISubscriptionMap => ({
  // Retain handling 2: the broker sends no retained messages. By MQTT 5, section 4.8.2, shared subscriptions get no retained messages
  // anyway, but Mosquitto 2.0.11 sends them after every reconnect. Then a retained message with relative times would be stored again.
  [`$share/${group}/iot/v1/+/measurements`]: { qos: 1, rh: 2 },
  // Retain handling 1: the broker sends retained messages only for a new subscription, not after every reconnect.
  'iot/v1/+/birth': { qos: 1, rh: 1 },
  'iot/v1/+/status': { qos: 1, rh: 1 },
});

/** Processes share messages as they share measurements, and each gets what it gets of births. */
const furtherSubscriptionsOf = (group: string, { shared = [], own = [] }: Subscriptions): ISubscriptionMap =>
  Object.fromEntries([
    ...shared.map((filter) => [`$share/${group}/${filter}`, { qos: 1 as const, rh: 2 }]),
    ...own.map((filter) => [filter, { qos: 1 as const, rh: 1 }]),
  ]);

/** Filters that another filter covers are removed, because they would deliver messages twice. */
const coveredOf = (group: string, subscriptions: Subscriptions[]): string[] =>
  subscriptions.flatMap(({ covered = [] }) => covered).map((filter) => `$share/${group}/${filter}`);

/**
 * One process receives all messages of Sparkplug edge nodes. Edge nodes should retain none of these
 * (tck-id-topics-nbirth-mqtt and others), and with retain handling 2 the broker sends no retained messages. The host
 * also subscribes to its own state topic, to correct a wrong state from another client
 * (tck-id-message-flow-hid-sparkplug-state-message-delivered), but gets no messages of its own ("no local").
 */
const edgeSubscriptionsOf = ({ topic }: Host): ISubscriptionMap => ({
  ...Object.fromEntries(EDGE_FILTERS.map((filter) => [filter, { qos: 1 as const, rh: 2 }])),
  [topic]: { qos: 1, rh: 2, nl: true },
});

/** `group`: name of the shared subscriptions; `host`: null if this process does not handle Sparkplug */
export type Arrange = (
  client: MqttClient,
  topics: { group: string; host: Host | null; subscriptions: Subscriptions[] },
) => Promise<void>;

export async function subscribe(
  client: MqttClient,
  { group, host, subscriptions }: Parameters<Arrange>[1],
): Promise<void> {
  // The session at the broker may have these subscriptions from a time when this process handled Sparkplug.
  if (!host) await client.unsubscribeAsync(EDGE_FILTERS);
  const edges = host && edgeSubscriptionsOf(host);
  const further = subscriptions.map((each) => ({
    hint: each.hint,
    filters: furtherSubscriptionsOf(group, each),
  }));
  const granted = await client.subscribeAsync(
    Object.assign(subscriptionsOf(group), ...further.map(({ filters }) => filters), edges),
  );
  const refused = granted.find(({ qos }) => qos > 2);
  if (!refused) {
    // An earlier version, or other mappings, may have left these subscriptions in the session.
    const covered = coveredOf(group, subscriptions);
    if (covered.length > 0) await client.unsubscribeAsync(covered);
    return;
  }
  const hint =
    edges && refused.topic in edges
      ? 'set SPARKPLUG to false if you do not need it'
      : further.find(({ filters }) => refused.topic in filters)?.hint;
  throw new Error(`the subscription to ${refused.topic} is refused${hint === undefined ? '' : `; ${hint}`}`);
}

/** Messages that are already in the session still arrive. @throws when the connection breaks */
export async function unsubscribe(
  client: MqttClient,
  { group, subscriptions }: Parameters<Arrange>[1],
): Promise<void> {
  const all = [subscriptionsOf(group), ...subscriptions.map((each) => furtherSubscriptionsOf(group, each))];
  const filters = all.flatMap((each) => Object.keys(each));
  await client.unsubscribeAsync([...filters, ...coveredOf(group, subscriptions), ...EDGE_FILTERS]);
}
