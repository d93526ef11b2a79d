import type { ISubscriptionMap, MqttClient } from 'mqtt';
import { EDGE_FILTERS } from '../../../schema/sparkplug-topics.ts';
import type { MappedFilters } from '../../ingest/mappings/index.ts';
import type { Host } from '../../ingest/sparkplug/host.ts';

/** Every process gets births and statuses: shared subscriptions get no retained messages, and a birth must arrive before measurements. */
const subscriptionsOf = (group: string): ISubscriptionMap => ({
  // Retain handling 2: the broker sends no retained messages. By MQTT 5, section 4.8.2, shared subscriptions get no retained messages
  // anyway, but Mosquitto 2.0.11 sends them after every reconnect. Then a retained message with relative times would be stored again.
  [`$share/${group}/iot/v1/+/measurements`]: { qos: 1, rh: 2 },
  // Retain handling 1: the broker sends retained messages only for a new subscription, not after every reconnect.
  'iot/v1/+/birth': { qos: 1, rh: 1 },
  'iot/v1/+/status': { qos: 1, rh: 1 },
});

/** As with measurements and births, processes share values, and each gets all descriptions. */
const mappedSubscriptionsOf = (group: string, { shared, own }: MappedFilters): ISubscriptionMap =>
  Object.fromEntries([
    ...shared.map((filter) => [`$share/${group}/${filter}`, { qos: 1 as const, rh: 2 }]),
    ...own.map((filter) => [filter, { qos: 1 as const, rh: 1 }]),
  ]);

/** Filters that another filter covers are removed, because they would deliver messages twice. */
const coveredOf = (group: string, { covered }: MappedFilters): string[] =>
  covered.map((filter) => `$share/${group}/${filter}`);

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
  topics: { group: string; host: Host | null; mapped: MappedFilters },
) => Promise<void>;

export async function subscribe(
  client: MqttClient,
  { group, host, mapped }: { group: string; host: Host | null; mapped: MappedFilters },
): Promise<void> {
  // The session at the broker may have these subscriptions from a time when this process handled Sparkplug.
  if (!host) await client.unsubscribeAsync(EDGE_FILTERS);
  const edges = host && edgeSubscriptionsOf(host);
  const others = mappedSubscriptionsOf(group, mapped);
  const granted = await client.subscribeAsync({ ...subscriptionsOf(group), ...others, ...edges });
  const refused = granted.find(({ qos }) => qos > 2);
  if (!refused) {
    // An earlier version, or other mappings, may have left these subscriptions in the session.
    const covered = coveredOf(group, mapped);
    if (covered.length > 0) await client.unsubscribeAsync(covered);
    return;
  }
  const hint =
    edges && refused.topic in edges
      ? '; set SPARKPLUG to false if you do not need it'
      : refused.topic in others
        ? '; allow it at the broker, or change MQTT_MAPPINGS'
        : '';
  throw new Error(`the subscription to ${refused.topic} is refused${hint}`);
}

/** Messages that are already in the session still arrive. @throws when the connection breaks */
export async function unsubscribe(
  client: MqttClient,
  { group, mapped }: { group: string; host: Host | null; mapped: MappedFilters },
): Promise<void> {
  const all = { ...subscriptionsOf(group), ...mappedSubscriptionsOf(group, mapped) };
  await client.unsubscribeAsync([...Object.keys(all), ...coveredOf(group, mapped), ...EDGE_FILTERS]);
}
