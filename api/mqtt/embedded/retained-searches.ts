import { Readable } from 'node:stream';
import type { GrantedFilter, QoS, RetainedMessages } from './retained.ts';

/** `turn` settles when the search may run, or when no filter is left. `begin` settles it. */
type Search = { filters: Map<string, QoS>; turn: Promise<void>; begin: () => void };

/**
 * The searches of one connection for retained messages. One search runs at a time, and the other searches wait in order.
 * A filter waits only in its newest search, which finds all messages that an older search would find. So the number of
 * waiting searches never exceeds the number of filters. All searches end with the connection. Without these limits,
 * 2,000 SUBSCRIBE packets of `#` (16 kB) took 4 GB of memory, long after their connection had closed.
 *
 *     running    [ # ]
 *     waiting    [ iot/v1/+/status ] [ # ]      a further SUBSCRIBE of `#` replaces the waiting one
 */
export class RetainedSearches {
  #retained;
  #closed;
  #running: Search | null = null;
  #waiting: Set<Search> = new Set();
  #newest: Map<string, Search> = new Map();

  constructor(retained: RetainedMessages, closed: AbortSignal) {
    this.#retained = retained;
    this.#closed = closed;
    closed.addEventListener('abort', () => this.#endAll(), { once: true });
  }

  get waiting() {
    return this.#waiting.size;
  }

  search(filters: GrantedFilter[]): Readable {
    const search = createSearch(filters);
    for (const filter of search.filters.keys()) {
      this.#removeFromWaiting(filter);
      this.#newest.set(filter, search);
    }
    this.#waiting.add(search);
    this.#beginNext();
    return Readable.from(this.#run(search));
  }

  async *#run(search: Search) {
    await search.turn;
    try {
      yield* this.#retained.matching([...search.filters], this.#closed);
    } finally {
      if (this.#running === search) {
        this.#running = null;
        this.#beginNext();
      }
    }
  }

  #beginNext() {
    const [next] = this.#waiting;
    if (this.#running || !next) return;
    this.#waiting.delete(next);
    for (const filter of next.filters.keys()) this.#newest.delete(filter);
    this.#running = next;
    next.begin();
  }

  #removeFromWaiting(filter: string) {
    const older = this.#newest.get(filter);
    older?.filters.delete(filter);
    if (older?.filters.size === 0) this.#end(older);
  }

  #endAll() {
    for (const search of this.#waiting) this.#end(search);
  }

  #end(search: Search) {
    this.#waiting.delete(search);
    search.filters.clear();
    search.begin();
  }
}

function createSearch(filters: GrantedFilter[]): Search {
  let begin = () => {};
  const turn = new Promise((resolve) => {
    begin = () => resolve(undefined);
  }) as Promise<void>;
  return { filters: new Map(filters), turn, begin };
}
