import { channel } from 'node:diagnostics_channel';
import cassandra from 'cassandra-driver';

/** @import { ExecutionOptions, Host, tracker } from 'cassandra-driver' */

/** @typedef {'unprepared' | 'unpaged' | 'filtering' | 'consistency'} WrongHabit */

/** Told of each request that the database would have liked otherwise. @callback OnWrongHabit @param {WrongHabit} habit */

const FILTERING = /\bALLOW\s+FILTERING\b/i;

/** Texts that were looked at: ours are a few dozen, and more than this many would be put together while we run. */
const MOST_TEXTS = 1000;

/**
 * Holds each request against what every request of ours should be: prepared, paged, without ALLOW FILTERING, at the
 * consistency level of the settings. None of ours breaks it; what is added to a copy of this program may.
 *
 * @param {string} intended consistency level: `CQL_CONSISTENCY`
 * @param {OnWrongHabit} onWrong
 */
export function createHabits(intended, onWrong) {
  /** @type {Map<string, boolean>} */
  const filters = new Map();

  /** @param {string} cql */
  function isFiltering(cql) {
    const known = filters.get(cql);
    if (known !== undefined) return known;
    if (filters.size >= MOST_TEXTS) filters.clear();
    const found = FILTERING.test(cql);
    filters.set(cql, found);
    return found;
  }

  /**
   * @param {string | unknown[]} query a batch is an array: it has no pages, and filters nothing
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

/** As CQL has them, by the driver's number. */
const NAMES = new Map(
  Object.entries(cassandra.types.consistencies).map(([name, number]) => [
    number,
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
  ]),
);

/** @param {number} consistency */
const nameOf = (consistency) => NAMES.get(consistency);

/** The channel of `node:diagnostics_channel` on which a process tells of each request that its database answered or failed. */
export const SENT_REQUESTS = 'millrace:cql:request';

/**
 * A request as the driver sent it.
 *
 * @typedef {object} SentRequest
 * @property {string} application the client's name
 * @property {string} intended consistency level: `CQL_CONSISTENCY`
 * @property {Host} coordinator the node that it was sent to
 * @property {string | Array<{ query: string, params?: any }>} query a batch is an array
 * @property {any} parameters of what is no batch
 * @property {ExecutionOptions} options
 */

/** @typedef {tracker.RequestTracker} RequestTracker */

// The typings know it as an interface alone; the driver takes nothing that is no instance of the class.
const Tracker = /** @type {{ RequestTracker: new () => RequestTracker }} */ (
  /** @type {unknown} */ (cassandra.tracker)
).RequestTracker;

/**
 * Tells of every request, for tests and tools that want to see what a process says to its database, while any of them
 * listens; and of those that break a habit.
 *
 * @param {{ application: string, intended: string }} client what is said of each request of its
 * @param {OnWrongHabit} [onBrokenRule]
 * @returns {RequestTracker}
 */
export function createTracker(client, onBrokenRule) {
  const requests = channel(SENT_REQUESTS);
  const hold = onBrokenRule && createHabits(client.intended, onBrokenRule);
  /** @type {RequestTracker['onError']} */
  const tell = (coordinator, query, parameters, options) => {
    hold?.(query, options);
    if (requests.hasSubscribers) requests.publish({ ...client, coordinator, query, parameters, options });
  };
  return Object.assign(new Tracker(), { onSuccess: tell, onError: tell });
}
