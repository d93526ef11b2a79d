import cassandra from 'cassandra-driver';

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
   * @param {import('cassandra-driver').ExecutionOptions} options
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
