import type { Aedes, Client } from 'aedes';
import { FIRST_NAMED_LEVEL, isNamedTopic, isStatsTopic, reachesLive } from '../../live/index.ts';
import { FIRST_ERROR } from './mqtt5.ts';
import { filterOf } from './retained.ts';

type Matches = (topic: string) => boolean;

/**
 * Tracks the clients that subscribe to live changes. Without such a client, the process need not publish them.
 *
 * Named topics (`named-topics.ts`) repeat the topics by id, so one is published only
 * if a filter asks for it: a filter without `#`, and for `iot/live/{name}` without a wildcard. So a client that follows
 * `iot/live/+` or `#` gets each change once.
 */
export class Followers {
  #filters: Map<Client, Set<string>> = new Map();
  #asking: Map<string, { clients: number; matches: Matches }> = new Map();
  /** Topics of channels. */
  #reserved: Set<string> = new Set();

  constructor(aedes: Aedes) {
    aedes.on('subscribe', (subscriptions, client) => {
      if (client.closed) return;
      for (const { topic, qos } of subscriptions) {
        // The broker has refused a subscription with this code or more.
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

  get any() {
    return this.#filters.size > 0;
  }

  get anyAsking() {
    return this.#asking.size > 0;
  }

  ask(topic: string) {
    for (const { matches } of this.#asking.values()) if (matches(topic)) return true;
    return false;
  }

  /** Must be called before the first subscription. */
  reserve(topic: string) {
    this.#reserved.add(topic);
  }

  /** A named topic is only for clients whose filters ask for it. */
  takes(client: Client, topic: string) {
    if (!isNamedTopic(topic) || this.#reserved.has(topic)) return true;
    for (const filter of this.#filters.get(client) ?? [])
      if (this.#asking.get(filter)?.matches(topic)) return true;
    return false;
  }

  #add(client: Client, filter: string) {
    const filters = this.#filters.get(client) ?? new Set();
    if (filters.has(filter)) return;
    this.#filters.set(client, filters.add(filter));
    const matches = this.#askingBy(filter);
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

  /** Returns null if the filter asks for no named topic. */
  #askingBy(filter: string): Matches | null {
    if (filter.includes('#') || isStatsTopic(filter)) return null;
    if (!filter.includes('+'))
      return isNamedTopic(filter) && !this.#reserved.has(filter) ? (topic) => topic === filter : null;
    return filter.split('/').length > FIRST_NAMED_LEVEL ? filterOf(filter) : null;
  }
}
