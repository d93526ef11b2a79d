import { isRegistered } from './latest-rows.js';
import { conditions, matches, narrowest } from './sensor-filter.js';
import { keyText } from './sensor-key.js';
import { walkGroups } from './walk.js';

/** Index rows that one page reads at most when they have to be checked against further conditions. */
const MOST_CHECKED_A_PAGE = 1000;

/** An index row that `latest` contradicts is removed once the birth that wrote it must have ended, in ms. */
const STALE_AFTER_MS = 600_000;

/** @typedef {import('./latest-rows.js').LatestRow} LatestRow */
/** @typedef {import('./walk.js').Place<import('./sensor-index.js').IndexKey>} LatestPlace */

/**
 * Pages of sensors with their latest values: of the whole fleet from `latest` itself, of some of it by an index.
 *
 * @param {object} parts
 * @param {import('./latest-rows.js').LatestRows} parts.latest
 * @param {import('./sensor-index.js').SensorIndex} parts.index
 * @param {number} parts.groups `LATEST_GROUPS`
 * @param {() => number} parts.clock epoch ms
 * @param {(kind: import('./sensor-index.js').IndexKind) => void} parts.onStaleIndex told of each row that `latest` contradicts
 */
export function createLatestPages({ latest, index, groups, clock, onStaleIndex }) {
  /** @param {LatestPlace} place @param {number} wanted */
  async function readAll(place, wanted) {
    const rows = await latest.after(place, wanted);
    return rows.map((row) => ({
      key: { device: row.deviceId, sensor: row.id },
      row: isRegistered(row) ? row : null,
    }));
  }

  /**
   * @param {import('./sensor-index.js').IndexKind} kind the index that is read
   * @param {string} term
   * @param {import('./sensor-filter.js').SensorFilter} filter
   * @returns {(place: LatestPlace, wanted: number) => Promise<Array<import('./walk.js').Entry<LatestRow, import('./sensor-index.js').IndexKey>>>}
   */
  const readIndexed = (kind, term, filter) => async (place, wanted) => {
    const found = await index.after(kind, term, place, wanted);
    const rows = await latest.byKeys(
      place.group,
      found.map(({ key }) => key),
    );
    const entries = [];
    for (const entry of found) {
      const row = rows.get(keyText(entry.key));
      const holds = row !== undefined && isRegistered(row) && row[kind] === entry.term;
      if (!holds) await removeStale(kind, entry);
      entries.push({ key: entry.key, row: holds && matches(row, filter) ? row : null });
    }
    return entries;
  };

  /** @param {import('./sensor-index.js').IndexKind} kind @param {import('./sensor-index.js').IndexEntry} entry */
  async function removeStale(kind, entry) {
    onStaleIndex(kind);
    if (clock() - entry.writtenAt >= STALE_AFTER_MS) await index.remove(kind, entry);
  }

  return {
    /**
     * @param {{ filter: import('./sensor-filter.js').SensorFilter, after: LatestPlace | null, limit: number }} page
     * @returns {Promise<{ rows: LatestRow[], next: LatestPlace | null }>} at most `limit` rows, maybe fewer before the end
     */
    read({ filter, after, limit }) {
      const by = narrowest(filter);
      return walkGroups({
        groups,
        from: after ?? { group: 0 },
        limit,
        mostRead: conditions(filter) > 1 ? MOST_CHECKED_A_PAGE : limit,
        read: by ? readIndexed(by.kind, by.term, filter) : readAll,
      });
    },
  };
}
