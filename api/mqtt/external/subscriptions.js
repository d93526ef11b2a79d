import { EDGE_FILTERS } from '../../../schema/sparkplug-topics.js';

/** @import { ISubscriptionMap, MqttClient } from 'mqtt' */
/** @import { Host } from '../../ingest/sparkplug/host.js' */

/**
 * Measurements are shared among all processes of the group; births and status come to every process, since shared
 * subscriptions get no retained messages, and so that a birth comes before its measurements in each queue.
 *
 * @param {string} group of the shared subscription
 * @returns {ISubscriptionMap}
 */
const subscriptionsOf = (group) => ({
  // Retain handling 2: never. MQTT 5, section 4.8.2, has none for shared subscriptions anyway, but Mosquitto 2.0.11 sends
  // them after every reconnect, and a retained batch whose times are relative would be stored anew each time.
  [`$share/${group}/iot/v1/+/measurements`]: { qos: 1, rh: 2 },
  // Retain handling 1: retained messages come with a new subscription only, not after every reconnect.
  'iot/v1/+/birth': { qos: 1, rh: 1 },
  'iot/v1/+/status': { qos: 1, rh: 1 },
});

/**
 * What edge nodes of Sparkplug publish comes to one process. None of it is retained (tck-id-topics-nbirth-mqtt and
 * others); retain handling 2 leaves out what is all the same. The host hears what others say of it, to correct it
 * (tck-id-message-flow-hid-sparkplug-state-message-delivered): not what it says itself.
 *
 * @param {Host} host
 * @returns {ISubscriptionMap}
 */
const edgeSubscriptionsOf = ({ topic }) => ({
  ...Object.fromEntries(EDGE_FILTERS.map((filter) => [filter, { qos: /** @type {const} */ (1), rh: 2 }])),
  [topic]: { qos: 1, rh: 2, nl: true },
});

/**
 * What is done on each connection.
 *
 * @typedef {(client: MqttClient, group: string, host: Host | null) => Promise<void>} Arrange `host` null:
 *   this process takes no Sparkplug
 */

/**
 * @type {Arrange}
 * @throws {Error} when the broker refuses one of them, or the connection breaks
 */
export async function subscribe(client, group, host) {
  // The session may be of a time when this process took Sparkplug.
  if (!host) await client.unsubscribeAsync(EDGE_FILTERS);
  const edges = host && edgeSubscriptionsOf(host);
  const granted = await client.subscribeAsync({ ...subscriptionsOf(group), ...edges });
  const refused = granted.find(({ qos }) => qos > 2);
  if (!refused) return;
  const hint = edges && refused.topic in edges ? '; set SPARKPLUG to false where it is not wanted' : '';
  throw new Error(`the subscription to ${refused.topic} is refused${hint}`);
}

/**
 * What the session holds already still comes.
 *
 * @type {Arrange}
 * @throws {Error} when the connection breaks
 */
export async function unsubscribe(client, group) {
  await client.unsubscribeAsync([...Object.keys(subscriptionsOf(group)), ...EDGE_FILTERS]);
}
