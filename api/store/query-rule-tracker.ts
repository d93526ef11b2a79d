import { channel } from 'node:diagnostics_channel';
import type { ExecutionOptions, Host, tracker } from 'cassandra-driver';
import cassandra from 'cassandra-driver';

type BrokenRule = 'unprepared' | 'unpaged' | 'filtering' | 'consistency';

export type OnBrokenRule = (rule: BrokenRule) => void;

const FILTERING = /\bALLOW\s+FILTERING\b/i;

/** Millrace has a few dozen statements. More mean that code generates statements at run time. */
const MAX_CACHED = 1000;

/**
 * A request must be prepared, paged, without ALLOW FILTERING, and at the consistency level of the settings.
 * All requests of Millrace follow the rules, but code that a developer adds may break them.
 */
export function createQueryRules(intended: string, onWrong: OnBrokenRule) {
  const filters: Map<string, boolean> = new Map();

  function isFiltering(cql: string) {
    const known = filters.get(cql);
    if (known !== undefined) return known;
    if (filters.size >= MAX_CACHED) filters.clear();
    const found = FILTERING.test(cql);
    filters.set(cql, found);
    return found;
  }

  /** A batch is an array, which has no pages and no filter. */
  return (query: string | unknown[], options: ExecutionOptions) => {
    if (!options.isPrepared()) onWrong('unprepared');
    if (nameOf(options.getConsistency()) !== intended) onWrong('consistency');
    if (typeof query !== 'string') return;
    if (options.isAutoPage() || !(options.getFetchSize() > 0)) onWrong('unpaged');
    if (isFiltering(query)) onWrong('filtering');
  };
}

const NAMES = new Map(
  Object.entries(cassandra.types.consistencies).map(([name, number]) => [
    number,
    name.replaceAll(/[A-Z]/g, (initial) => `_${initial}`).toUpperCase(),
  ]),
);

const nameOf = (consistency: number) => NAMES.get(consistency);

/** The channel of `node:diagnostics_channel` for requests that the database answered or failed. */
export const SENT_REQUESTS = 'millrace:cql:request';

export interface SentRequest {
  application: string;
  intended: string;
  coordinator: Host;
  /** a batch is an array */
  query: string | Array<{ query: string; params?: unknown }>;
  parameters: unknown;
  options: ExecutionOptions;
}

type RequestTracker = tracker.RequestTracker;

// The driver's types declare only an interface, but the driver requires an instance of its class.
const Tracker = (cassandra.tracker as unknown as { RequestTracker: new () => RequestTracker }).RequestTracker;

/** Publishes every request on the channel `SENT_REQUESTS`, for tests and tools, and checks it against the query rules. */
export function createTracker(
  client: { application: string; intended: string },
  onBrokenRule?: OnBrokenRule,
): RequestTracker {
  const requests = channel(SENT_REQUESTS);
  const checkRules = onBrokenRule && createQueryRules(client.intended, onBrokenRule);
  const onRequest: RequestTracker['onError'] = (coordinator, query, parameters, options) => {
    checkRules?.(query, options);
    if (requests.hasSubscribers) requests.publish({ ...client, coordinator, query, parameters, options });
  };
  return Object.assign(new Tracker(), { onSuccess: onRequest, onError: onRequest });
}
