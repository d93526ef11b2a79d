import { reachesLive } from '../../live/topics.js';

/**
 * Knows whether any client subscribes to live changes: while nobody does, publishing them would be for nothing.
 *
 * @param {import('aedes').Aedes} aedes
 */
export function createFollowers(aedes) {
  /** @type {Set<import('aedes').Client>} */
  const followers = new Set();

  /** aedes keeps what a client subscribes to, but its types do not say so. @param {import('aedes').Client} client */
  function look(client) {
    const { subscriptions } = /** @type {{ subscriptions: object }} */ (/** @type {unknown} */ (client));
    if (!client.closed && Object.keys(subscriptions).some(reachesLive)) followers.add(client);
    else followers.delete(client);
  }

  aedes.on('subscribe', (_subscriptions, client) => look(client));
  aedes.on('unsubscribe', (_filters, client) => look(client));
  aedes.on('clientDisconnect', (client) => followers.delete(client));

  return {
    get any() {
      return followers.size > 0;
    },
  };
}
