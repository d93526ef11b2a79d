import type { Client, Subscription } from 'aedes';
import type { Topic } from '../../../schema/topics.ts';
import { canPublish, canSendFor, canSubscribe } from '../../access/index.ts';
import type { Account } from '../../access/topic-permissions.ts';
import type { ReadRule } from '../../ingest/topics.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { AccessNotices } from './authentication.ts';
import type { Connection } from './connections.ts';

export function createAuthorization({
  connectionOf,
  readRules,
  notices,
  metrics,
}: {
  connectionOf: (client: Client) => Connection | undefined;
  readRules: ReadRule[];
  notices: AccessNotices;
  metrics: Metrics;
}) {
  function reject(account: string, what: 'publish' | 'subscribe' | 'filters' | 'will', topic: string) {
    metrics.denied.inc({ action: what });
    notices.forbidden(account, what, topic);
  }

  function isAllowed(connection: Connection, filter: string) {
    const { account, filters } = connection;
    const isWithin = hasRoomFor(connection, filter);
    if (isWithin) filters.add(filter);
    if (isWithin && account && canSubscribe(account, filter, readRules)) return true;
    reject(account?.name ?? '', isWithin ? 'subscribe' : 'filters', filter);
    return false;
  }

  return {
    /**
     * Every account may publish on unknown topics (null). Such a message is acknowledged, dropped and counted, and reaches no client. If
     * the broker closed the connection instead, the device would reconnect and send the message again forever.
     */
    canPublish(client: Client, topic: string, route: Topic | null, what: 'publish' | 'will' = 'publish') {
      const account = connectionOf(client)?.account;
      if (account && (route === null || canPublish(account, route))) return true;
      reject(account?.name ?? '', what, topic);
      return false;
    },

    /** `canPublish` allows every topic outside the contract. Ingest calls this function as soon as a handler has found the device. */
    canSendFor(client: Client, device: string, topic: string) {
      const account = connectionOf(client)?.account;
      if (account && canSendFor(account, device)) return true;
      reject(account?.name ?? '', 'publish', topic);
      return false;
    },

    /** aedes answers a refused subscription with 0x80 (MQTT 3.1.1, 3.9.3) or 0x87 (MQTT 5, 3.9.3). */
    authorizeSubscribe(
      client: Client,
      subscription: Subscription,
      done: (error: Error | null, subscription?: Subscription | null) => void,
    ): void {
      const connection = client && connectionOf(client);
      const { topic } = subscription;
      done(null, connection && isAllowed(connection, topic) ? subscription : null);
    },

    unsubscribed(filters: string[], client: Client) {
      for (const filter of filters) connectionOf(client)?.filters.delete(filter);
    },
  };
}

export type Authorization = ReturnType<typeof createAuthorization>;

/** The broker forwards no topic that a filter above these limits could match. */
const MAX_CHARACTERS = 512;
const MAX_LEVELS = 8;

/** Limit per connection of a device account. */
const MAX_FILTERS = 32;

/** Filters for each device of the account after the first: its topics, and its commands. */
const MAX_FILTERS_PER_DEVICE = 2;

/** Programs of the installation subscribe to many devices at once. */
const MAX_INSTALLATION_FILTERS = 1024;

/** A filter that permissions refuse also counts until the client unsubscribes, because its check has the same cost. */
function hasRoomFor({ account, filters }: Connection, filter: string) {
  if (filter.length > MAX_CHARACTERS || filter.split('/', MAX_LEVELS + 1).length > MAX_LEVELS) return false;
  return filters.has(filter) || filters.size < maxFilters(account);
}

function maxFilters(account: Account | null) {
  if (!account) return 0;
  if (account.isInstallation) return MAX_INSTALLATION_FILTERS;
  return MAX_FILTERS + MAX_FILTERS_PER_DEVICE * (account.ids.size - 1);
}
