import { reachesLive } from '../../live/topics.js';

/**
 * Knows whether any client subscribes to live changes: while nobody does, publishing them would be for nothing.
 *
 * @param {import('aedes').Aedes} aedes
 */
export function createFollowers(aedes) {
  /** @type {Map<import('aedes').Client, Set<string>>} the filters that reach them */
  const followers = new Map();

  aedes.on('subscribe', (subscriptions, client) => {
    if (client.closed) return;
    for (const { topic, qos } of subscriptions) {
      // MQTT 3.1.1, 3.9.3: refused.
      if (/** @type {number} */ (qos) === 128 || !reachesLive(topic)) continue;
      const filters = followers.get(client) ?? new Set();
      followers.set(client, filters.add(topic));
    }
  });
  aedes.on('unsubscribe', (unsubscribed, client) => {
    const filters = followers.get(client);
    if (!filters) return;
    for (const filter of unsubscribed) filters.delete(filter);
    if (filters.size === 0) followers.delete(client);
  });
  aedes.on('clientDisconnect', (client) => followers.delete(client));

  return {
    get any() {
      return followers.size > 0;
    },
  };
}
