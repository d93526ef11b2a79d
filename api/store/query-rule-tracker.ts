import { channel } from 'node:diagnostics_channel';
import cassandra from 'cassandra-driver';

/** @import { ExecutionOptions, Host, tracker } from 'cassandra-driver' */

/** @typedef {'unprepared' | 'unpaged' | 'filtering' | 'consistency'} BrokenRule */

/** Called for each request that breaks a query rule. @callback OnBrokenRule @param {BrokenRule} rule */

const FILTERING = /\bALLOW\s+FILTERING\b/i;

/** Limit of cached statements. Millrace has a few dozen. A larger number means that code generates statements at run time. */
const MAX_CACHED = 1000;

/**
 * Creates a function that checks each request against the query rules. A request must be prepared, paged, without ALLOW
 * FILTERING, and at the consistency level of the settings. All requests of Millrace follow the rules, but code that a
 * developer adds may break them.
 *
 * @param {string} intended consistency level: `CQL_CONSISTENCY`
 * @param {OnBrokenRule} onWrong
 */
export function createQueryRules(intended, onWrong) {
  /** @type {Map<string, boolean>} */
  const filters = new Map();

  /** @param {string} cql */
  function isFiltering(cql) {
    const known = filters.get(cql);
    if (known !== undefined) return known;
    if (filters.size >= MAX_CACHED) filters.clear();
    const found = FILTERING.test(cql);
    filters.set(cql, found);
    return found;
  }

  /**
   * @param {string | unknown[]} query a batch is an array, which has no pages and no filter
   * @param {ExecutionOptions} options
   */
  return (query, options) => {
    if (!options.isPrepared()) onWrong('unprepared');
    if (nameOf(options.getConsistency()) !== intended) onWrong('consistency');
    if (typeof query !== 'string') return;
    if (options.isAutoPage() || !(options.getFetchSize() > 0)) onWrong('unpaged');
    if (isFiltering(query)) onWrong('filtering');
  };
}

/** Names of consistency levels in CQL, by the driver's numbers for these levels. */
const NAMES = new Map(
  Object.entries(cassandra.types.consistencies).map(([name, number]) => [
    number,
    name.replaceAll(/[A-Z]/g, (initial) => `_${initial}`).toUpperCase(),
  ]),
);

/** @param {number} consistency */
const nameOf = (consistency) => NAMES.get(consistency);

/** The channel of `node:diagnostics_channel` that publishes each request that the database answered or failed. */
export const SENT_REQUESTS = 'millrace:cql:request';

/**
 * A request as the driver sent it.
 *
 * @typedef {object} SentRequest
 * @property {string} application the client's name
 * @property {string} intended consistency level: `CQL_CONSISTENCY`
 * @property {Host} coordinator the node that received the request
 * @property {string | Array<{ query: string, params?: any }>} query a batch is an array
 * @property {any} parameters parameters of a single statement
 * @property {ExecutionOptions} options
 */

/** @typedef {tracker.RequestTracker} RequestTracker */

// The driver's types declare only an interface, but the driver requires an instance of its class.
const Tracker = /** @type {{ RequestTracker: new () => RequestTracker }} */ (
  /** @type {unknown} */ (cassandra.tracker)
).RequestTracker;

/**
 * Creates a tracker that publishes every request on the channel `SENT_REQUESTS`, for tests and tools. It also checks every
 * request against the query rules.
 *
 * @param {{ application: string, intended: string }} client
 * @param {OnBrokenRule} [onBrokenRule]
 * @returns {RequestTracker}
 */
export function createTracker(client, onBrokenRule) {
  const requests = channel(SENT_REQUESTS);
  const checkRules = onBrokenRule && createQueryRules(client.intended, onBrokenRule);
  /** @type {RequestTracker['onError']} */
  const onRequest = (coordinator, query, parameters, options) => {
    checkRules?.(query, options);
    if (requests.hasSubscribers) requests.publish({ ...client, coordinator, query, parameters, options });
  };
  return Object.assign(new Tracker(), { onSuccess: onRequest, onError: onRequest });
}
