import { canPublish, canSendFor, canSubscribe } from '../../access/credentials/index.js';

/** @import { AuthorizeSubscribeHandler, Client } from 'aedes' */
/** @import { Topic } from '../../../schema/topics.js' */
/** @import { Account } from '../../access/credentials/permissions.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AccessNotices } from './authentication.js' */
/** @import { Connection } from './connections.js' */

/**
 * Creates the functions that check publishes and subscriptions against the permissions of the account.
 *
 * @param {object} deps
 * @param {(client: Client) => Connection | undefined} deps.connectionOf
 * @param {AccessNotices} deps.notices
 * @param {Metrics} deps.metrics
 */
export function createAuthorization({ connectionOf, notices, metrics }) {
  /** @param {string} account @param {'publish' | 'subscribe' | 'filters' | 'will'} what @param {string} topic */
  function reject(account, what, topic) {
    metrics.denied.inc({ action: what });
    notices.forbidden(account, what, topic);
  }

  /** @param {Connection} connection @param {string} filter */
  function isAllowed(connection, filter) {
    const { account, filters } = connection;
    const isWithin = hasRoomFor(connection, filter);
    if (isWithin) filters.add(filter);
    if (isWithin && account && canSubscribe(account, filter)) return true;
    reject(account?.name ?? '', isWithin ? 'subscribe' : 'filters', filter);
    return false;
  }

  return {
    /**
     * Checks a publish. Every account may publish on unknown topics. Such a message is acknowledged, dropped and
     * counted, and reaches no client. If the broker closed the connection instead, the device would reconnect and send
     * the message again forever. If a mapping reads the topic, `canSendFor` decides.
     *
     * @param {Client} client
     * @param {string} topic
     * @param {Topic | null} route parsed topic; null: outside the contract
     * @param {'publish' | 'will'} [what]
     */
    canPublish(client, topic, route, what = 'publish') {
      const account = connectionOf(client)?.account;
      if (account && (route === null || canPublish(account, route))) return true;
      reject(account?.name ?? '', what, topic);
      return false;
    },

    /**
     * Checks a message on a mapped topic. Such a topic is outside the contract, so `canPublish` allows it.
     * Ingest calls this function as soon as the mapping has found the device.
     *
     * @param {Client} client
     * @param {string} device name or id of the device
     * @param {string} topic
     */
    canSendFor(client, device, topic) {
      const account = connectionOf(client)?.account;
      if (account && canSendFor(account, device)) return true;
      reject(account?.name ?? '', 'publish', topic);
      return false;
    },

    /**
     * Checks a subscription. aedes answers a refused subscription with 0x80 (MQTT 3.1.1, 3.9.3) or 0x87 (MQTT 5, 3.9.3).
     *
     * @type {AuthorizeSubscribeHandler}
     */
    authorizeSubscribe(client, subscription, done) {
      const connection = client && connectionOf(client);
      const { topic } = subscription;
      done(null, connection && isAllowed(connection, topic) ? subscription : null);
    },

    /** Removes filters from the filters that count toward the limit. @param {string[]} filters @param {Client} client */
    unsubscribed(filters, client) {
      for (const filter of filters) connectionOf(client)?.filters.delete(filter);
    },
  };
}

/** @typedef {ReturnType<typeof createAuthorization>} Authorization */

/** Limits of a filter: characters and levels. A filter above a limit is refused, because the broker forwards no such topic. */
const MAX_CHARACTERS = 512;
const MAX_LEVELS = 8;

/** Limit of filters per connection of a device account. Further filters are refused. */
const MAX_FILTERS = 32;

/**
 * Number of filters that are allowed in addition for each device of the account after the first: for the topics of the device, and for its
 * commands as an edge node.
 */
const MAX_FILTERS_PER_DEVICE = 2;

/**
 * Limit of filters per connection of the installation account. It is higher, because programs of the installation
 * subscribe to many devices at once.
 */
const MAX_INSTALLATION_FILTERS = 1024;

/**
 * Checks whether a connection may use one more filter. A filter that permissions refuse also counts until the client unsubscribes, because
 * its check has the same cost.
 *
 * @param {Connection} connection
 * @param {string} filter
 */
function hasRoomFor({ account, filters }, filter) {
  if (filter.length > MAX_CHARACTERS || filter.split('/', MAX_LEVELS + 1).length > MAX_LEVELS) return false;
  return filters.has(filter) || filters.size < maxFilters(account);
}

/** @param {Account | null} account */
function maxFilters(account) {
  if (!account) return 0;
  if (account.isInstallation) return MAX_INSTALLATION_FILTERS;
  return MAX_FILTERS + MAX_FILTERS_PER_DEVICE * (account.ids.size - 1);
}
