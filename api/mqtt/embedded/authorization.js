import { parseTopic } from '../../../schema/topics.js';
import { canPublish, canSubscribe } from '../../access/credentials/permissions.js';

/** @import { AuthorizeSubscribeHandler, Client } from 'aedes' */
/** @import { Account } from '../../access/credentials/permissions.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AccessNotices } from './authentication.js' */
/** @import { Connection } from './connections.js' */

/**
 * Holds clients to the rights of their account.
 *
 * @param {object} deps
 * @param {(client: Client) => Connection | undefined} deps.connectionOf
 * @param {AccessNotices} deps.notices
 * @param {Metrics} deps.metrics
 */
export function createAuthorization({ connectionOf, notices, metrics }) {
  /** @param {string} account @param {'publish' | 'subscribe' | 'filters' | 'will'} what @param {string} topic */
  function turnAway(account, what, topic) {
    metrics.turnedAway.inc({ what });
    notices.forbidden(account, what, topic);
  }

  /** @param {Connection} connection @param {string} filter */
  function mayHear(connection, filter) {
    const { account, filters } = connection;
    const isWithin = hasRoomFor(connection, filter);
    if (isWithin) filters.add(filter);
    if (isWithin && account && canSubscribe(account, filter)) return true;
    turnAway(account?.name ?? '', isWithin ? 'subscribe' : 'filters', filter);
    return false;
  }

  return {
    /**
     * What is outside the contract speaks for nobody and reaches nobody: it is acknowledged, dropped and counted as it is from
     * everybody, or a device that has a word of its own to say would be thrown out for ever.
     *
     * @param {Client} client
     * @param {string} topic
     * @param {'publish' | 'will'} [what]
     */
    canPublish(client, topic, what = 'publish') {
      const account = connectionOf(client)?.account;
      if (account && (canPublish(account, topic) || parseTopic(topic) === null)) return true;
      turnAway(account?.name ?? '', what, topic);
      return false;
    },

    /** MQTT 3.1.1, 3.9.3: a subscription that is refused is answered by 0x80. @type {AuthorizeSubscribeHandler} */
    authorizeSubscribe(client, subscription, done) {
      const connection = client && connectionOf(client);
      const { topic } = subscription;
      done(null, connection && mayHear(connection, topic) ? subscription : null);
    },

    /** @param {string[]} filters @param {Client} client */
    unsubscribed(filters, client) {
      for (const filter of filters) connectionOf(client)?.filters.delete(filter);
    },
  };
}

/** @typedef {ReturnType<typeof createAuthorization>} Authorization */

/** Nothing that the broker hands out has a longer topic, nor one of more levels. */
const MOST_CHARACTERS = 512;
const MOST_LEVELS = 8;

const MOST_OF_A_DEVICE = 32;

/** So much more, for each further device that it speaks for: its own topics, and its commands as an edge node. */
const MOST_OF_ANOTHER = 2;

/** Our own programs follow many devices at once. */
const MOST_OF_THE_INSTALLATION = 1024;

/**
 * Whether a connection may ask for one more filter. A refused one counts until it is unsubscribed, too: looking it up is what it
 * costs.
 *
 * @param {Connection} connection
 * @param {string} filter
 */
function hasRoomFor({ account, filters }, filter) {
  if (filter.length > MOST_CHARACTERS || filter.split('/', MOST_LEVELS + 1).length > MOST_LEVELS)
    return false;
  return filters.has(filter) || filters.size < mostOf(account);
}

/** @param {Account | null} account */
function mostOf(account) {
  if (!account) return 0;
  if (account.isInstallation) return MOST_OF_THE_INSTALLATION;
  return MOST_OF_A_DEVICE + MOST_OF_ANOTHER * (account.ids.size - 1);
}
