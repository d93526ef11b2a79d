/**
 * Measurements are shared among all processes of the group; births and status come to every process, since shared
 * subscriptions get no retained messages, and so that a birth comes before its measurements in each queue.
 *
 * @param {import('mqtt').MqttClient} client connected
 * @param {string} group of the shared subscription
 * @throws {Error} when the broker refuses one of them, or the connection breaks
 */
export async function subscribe(client, group) {
  // Retain handling 1: retained messages come with a new subscription only, not after every reconnect.
  const granted = await client.subscribeAsync({
    [`$share/${group}/iot/v1/+/measurements`]: { qos: 1 },
    'iot/v1/+/birth': { qos: 1, rh: 1 },
    'iot/v1/+/status': { qos: 1, rh: 1 },
  });
  const refused = granted.find(({ qos }) => qos > 2);
  if (refused) throw new Error(`the subscription to ${refused.topic} is refused`);
}
