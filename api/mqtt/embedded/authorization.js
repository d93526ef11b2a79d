import { mayFollow, mayPublish } from '../../access/credentials/permissions.js';
import { parseTopic } from '../../../schema/topics.js';
import { hasRoomFor } from './filter-bounds.js';

/**
 * Holds clients to the rights of their account.
 *
 * @param {object} parts
 * @param {(client: import('aedes').Client) => import('./connections.js').Connection | undefined} parts.connectionOf
 * @param {import('./access-notices.js').AccessNotices} parts.notices
 * @param {import('../../observability/metrics.js').Metrics} parts.metrics
 */
export function createAuthorization({ connectionOf, notices, metrics }) {
  /** @param {string} account @param {'publish' | 'subscribe' | 'filters' | 'will'} what @param {string} topic */
  function turnAway(account, what, topic) {
    metrics.turnedAway.inc({ what });
    notices.forbidden(account, what, topic);
  }

  /** @param {import('./connections.js').Connection} connection @param {string} filter */
  function mayHear(connection, filter) {
    const { account, filters } = connection;
    const isWithin = hasRoomFor(connection, filter);
    if (isWithin) filters.add(filter);
    if (isWithin && account && mayFollow(account, filter)) return true;
    turnAway(account?.name ?? '', isWithin ? 'subscribe' : 'filters', filter);
    return false;
  }

  return {
    /**
     * What is outside the contract speaks for nobody and reaches nobody: it is acknowledged, dropped and counted as it is from
     * everybody, or a device that has a word of its own to say would be thrown out for ever.
     *
     * @param {import('aedes').Client} client
     * @param {string} topic
     * @param {'publish' | 'will'} [what]
     */
    mayPublish(client, topic, what = 'publish') {
      const account = connectionOf(client)?.account;
      if (account && (mayPublish(account, topic) || parseTopic(topic) === null)) return true;
      turnAway(account?.name ?? '', what, topic);
      return false;
    },

    /** MQTT 3.1.1, 3.9.3: a subscription that is refused is answered by 0x80. @type {import('aedes').AuthorizeSubscribeHandler} */
    authorizeSubscribe(client, subscription, done) {
      const connection = client && connectionOf(client);
      const { topic } = subscription;
      done(null, connection && mayHear(connection, topic) ? subscription : null);
    },

    /** @param {string[]} filters @param {import('aedes').Client} client */
    unsubscribed(filters, client) {
      for (const filter of filters) connectionOf(client)?.filters.delete(filter);
    },
  };
}

/** @typedef {ReturnType<typeof createAuthorization>} Authorization */
