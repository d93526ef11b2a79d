import type { ISubscriptionMap, MqttClient } from 'mqtt';
import type { Subscriptions } from '../../../ingest/topics.ts';

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
const furtherSubscriptionsOf = (
  group: string,
  { shared = [], own = [], sole = [], states = [] }: Subscriptions,
): ISubscriptionMap =>
  Object.fromEntries([
    ...shared.map((filter) => [`$share/${group}/${filter}`, { qos: 1, rh: 2 }]),
    ...own.map((filter) => [filter, { qos: 1, rh: 1 }]),
    ...sole.map((filter) => [filter, { qos: 1, rh: 2 }]),
    // "No local": the client gets no messages of its own.
    ...states.map((filter) => [filter, { qos: 1, rh: 2, nl: true }]),
  ]);

/** Filters that another filter covers are removed, because they would deliver messages twice. */
const coveredOf = (group: string, subscriptions: Subscriptions[]): string[] =>
  subscriptions.flatMap(({ covered = [] }) => covered).map((filter) => `$share/${group}/${filter}`);

const formerOf = (subscriptions: Subscriptions[]): string[] =>
  subscriptions.flatMap(({ former = [] }) => former);

/** `group`: name of the shared subscriptions; `subscriptions`: of features */
export type Arrange = (
  client: MqttClient,
  topics: { group: string; subscriptions: Subscriptions[] },
) => Promise<void>;

export const subscribe: Arrange = async (client, { group, subscriptions }) => {
  // The session at the broker may have these subscriptions from a time when this process had other settings.
  const former = formerOf(subscriptions);
  if (former.length > 0) await client.unsubscribeAsync(former);
  const further = subscriptions.map((each) => ({
    hint: each.hint,
    filters: furtherSubscriptionsOf(group, each),
  }));
  const granted = await client.subscribeAsync(
    Object.assign(subscriptionsOf(group), ...further.map(({ filters }) => filters)),
  );
  const refused = granted.find(({ qos }) => qos > 2);
  if (!refused) {
    // An earlier version, or other settings, may have left these subscriptions in the session.
    const covered = coveredOf(group, subscriptions);
    if (covered.length > 0) await client.unsubscribeAsync(covered);
    return;
  }
  const hint = further.find(({ filters }) => refused.topic in filters)?.hint;
  throw new Error(`the subscription to ${refused.topic} is refused${hint === undefined ? '' : `; ${hint}`}`);
};

/** Messages that are already in the session still arrive. @throws when the connection breaks */
export const unsubscribe: Arrange = async (client, { group, subscriptions }) => {
  const all = [subscriptionsOf(group), ...subscriptions.map((each) => furtherSubscriptionsOf(group, each))];
  const filters = all.flatMap((each) => Object.keys(each));
  await client.unsubscribeAsync([...filters, ...coveredOf(group, subscriptions), ...formerOf(subscriptions)]);
};
