import type { Aedes, Client } from 'aedes';
import { FIRST_FURTHER_LEVEL, isFurtherTopic, isStatsTopic, reachesLive } from '../../live/index.ts';
import { FIRST_ERROR } from './mqtt5.ts';
import { filterOf } from './retained.ts';

/** Checks whether a filter matches a topic. */
type Matches = (topic: string) => boolean;

/**
 * Tracks the clients that subscribe to live changes. Without such a client, the process need not publish live changes.
 *
 * Named topics (`named-topics.ts`, in the code also further topics) repeat the content of the topics by id. So a named
 * topic is published only if a filter asks for it. Such a filter has no `#`, and for `iot/live/{name}` it has no
 * wildcard. So a client that follows `iot/live/+` or `#` gets each change once.
 */
export class Followers {
  /** The filters of each client that may match live topics. */
  #filters: Map<Client, Set<string>> = new Map();
  /** The filters that ask for named topics, with the number of their clients. */
  #asking: Map<string, { clients: number; matches: Matches }> = new Map();

  constructor(aedes: Aedes) {
    aedes.on('subscribe', (subscriptions, client) => {
      if (client.closed) return;
      for (const { topic, qos } of subscriptions) {
        // The broker has refused a subscription with a code of `FIRST_ERROR` or more.
        if (qos < FIRST_ERROR && reachesLive(topic)) this.#add(client, topic);
      }
    });
    aedes.on('unsubscribe', (filters, client) => {
      for (const filter of filters) this.#remove(client, filter);
    });
    aedes.on('clientDisconnect', (client) => {
      for (const filter of this.#filters.get(client) ?? []) this.#remove(client, filter);
    });
  }

  /** Whether any client subscribes to `iot/live/...`. */
  get any() {
    return this.#filters.size > 0;
  }

  /** Whether the filter of any client asks for named topics. */
  get anyAsking() {
    return this.#asking.size > 0;
  }

  /** Checks whether the filter of any client asks for this named topic. */
  ask(topic: string) {
    for (const { matches } of this.#asking.values()) if (matches(topic)) return true;
    return false;
  }

  /**
   * Checks whether a client gets messages on a topic. A named topic is only for clients whose filters ask for it.
   */
  takes(client: Client, topic: string) {
    if (!isFurtherTopic(topic)) return true;
    for (const filter of this.#filters.get(client) ?? [])
      if (this.#asking.get(filter)?.matches(topic)) return true;
    return false;
  }

  #add(client: Client, filter: string) {
    const filters = this.#filters.get(client) ?? new Set();
    if (filters.has(filter)) return;
    this.#filters.set(client, filters.add(filter));
    const matches = askingBy(filter);
    if (!matches) return;
    const asking = this.#asking.get(filter) ?? { clients: 0, matches };
    asking.clients++;
    this.#asking.set(filter, asking);
  }

  #remove(client: Client, filter: string) {
    const filters = this.#filters.get(client);
    if (!filters?.delete(filter)) return;
    if (filters.size === 0) this.#filters.delete(client);
    const asking = this.#asking.get(filter);
    if (asking && --asking.clients === 0) this.#asking.delete(filter);
  }
}

/** @returns null: the filter asks for no named topic */
function askingBy(filter: string): Matches | null {
  if (filter.includes('#') || isStatsTopic(filter)) return null;
  if (!filter.includes('+')) return isFurtherTopic(filter) ? (topic) => topic === filter : null;
  return filter.split('/').length > FIRST_FURTHER_LEVEL ? filterOf(filter) : null;
}
