import { isRegistered } from './latest-rows.js';
import { conditions, matches, narrowest } from './sensor-filter.js';
import { keyText } from './sensor-key.js';
import { isOldEnough } from './stale.js';
import { walkGroups } from './walk.js';

/** @typedef {import('./latest-rows.js').LatestRow} LatestRow */
/** @typedef {import('./walk.js').Place<import('./sensor-index.js').IndexKey>} LatestPlace */

/**
 * Pages of sensors with their latest values: of the whole fleet and of one device from `latest` itself, of a type, a
 * site or a name's beginning by an index.
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
    return rows.map((row) => ({ key: keyOf(row), row: isRegistered(row) ? row : null }));
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
    if (isOldEnough(entry, clock())) await index.remove(kind, entry);
  }

  /**
   * @param {Buffer} device 16 bytes
   * @param {import('./sensor-filter.js').SensorFilter} filter
   * @returns {(place: LatestPlace, wanted: number) => Promise<Array<import('./walk.js').Entry<LatestRow, import('./sensor-index.js').IndexKey>>>}
   */
  const readDevice = (device, filter) => async (place, wanted) => {
    const rows = await latest.ofDeviceAfter(device, place, wanted);
    return rows.map((row) => ({
      key: keyOf(row),
      row: isRegistered(row) && matches(row, filter) ? row : null,
    }));
  };

  return {
    /**
     * One device is one slice of a partition; conditions are checked on its rows.
     *
     * @param {import('../registry/rows.js').DeviceKey} device
     * @param {{ filter: import('./sensor-filter.js').SensorFilter, after: LatestPlace | null, limit: number }} page
     * @returns {Promise<{ rows: LatestRow[], next: LatestPlace | null }>}
     */
    readDevice: ({ group, bytes }, { filter, after, limit }) =>
      walkGroups({
        groups: group + 1,
        from: after ?? { group },
        limit,
        checked: conditions(filter) > 0,
        read: readDevice(bytes, filter),
      }),

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
        checked: conditions(filter) > 1,
        read: by ? readIndexed(by.kind, by.term, filter) : readAll,
      });
    },
  };
}

/** @typedef {ReturnType<typeof createLatestPages>} LatestPages */

/** @param {LatestRow} row */
const keyOf = (row) => ({ device: row.deviceId, sensor: row.id });
