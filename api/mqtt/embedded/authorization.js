import { canPublish, canSendFor, canSubscribe } from '../../access/credentials/index.js';

/** @import { AuthorizeSubscribeHandler, Client } from 'aedes' */
/** @import { Topic } from '../../../schema/topics.js' */
/** @import { Account } from '../../access/credentials/permissions.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { AccessNotices } from './authentication.js' */
/** @import { Connection } from './connections.js' */

/**
 * Checks publishes and subscriptions against the permissions of the account.
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
     * Every account may publish on unknown topics. Such a message is acknowledged, dropped and counted, and
     * reaches no client. If the broker closed the connection instead, the device would reconnect and send the
     * message again forever. If a mapping reads the topic, `canSendFor` decides.
     *
     * @param {Client} client
     * @param {string} topic
     * @param {Topic | null} route the topic, parsed; null: outside the contract
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
     * Checks a subscription. The answer to a refused one is 0x80 (MQTT 3.1.1, 3.9.3) or 0x87 (MQTT 5, 3.9.3).
     *
     * @type {AuthorizeSubscribeHandler}
     */
    authorizeSubscribe(client, subscription, done) {
      const connection = client && connectionOf(client);
      const { topic } = subscription;
      done(null, connection && isAllowed(connection, topic) ? subscription : null);
    },

    /** @param {string[]} filters @param {Client} client */
    unsubscribed(filters, client) {
      for (const filter of filters) connectionOf(client)?.filters.delete(filter);
    },
  };
}

/** @typedef {ReturnType<typeof createAuthorization>} Authorization */

/** Limits of a filter: no topic that the broker forwards is longer or has more levels. */
const MAX_CHARACTERS = 512;
const MAX_LEVELS = 8;

/** Limit of filters of a device account. */
const MAX_FILTERS = 32;

/** Additional filters for each further device of the account: its own topics, and its commands as an edge node. */
const MAX_FILTERS_PER_DEVICE = 2;

/**
 * Limit of filters of the installation account. Programs of the installation subscribe to many devices at
 * once.
 */
const MAX_INSTALLATION_FILTERS = 1024;

/**
 * Whether a connection may use one more filter. A refused filter counts too until the client unsubscribes, because its check has the
 * same cost.
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
