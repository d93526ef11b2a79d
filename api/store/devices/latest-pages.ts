import { isOldEnough } from './device-index.js';
import { iterateGroups } from './group-iterator.js';
import { isRegistered, keyText } from './latest-rows.js';

/** @import { DeviceKey } from '../registry/rows.js' */
/** @import { Row } from '../sending/session.js' */
/** @import { LatestRow, LatestRows } from './latest-rows.js' */
/** @import { IndexEntry, IndexKey, IndexKind, SensorIndex } from './sensor-index.js' */
/** @import { Entry, Place } from './group-iterator.js' */

/** @typedef {Place<IndexKey>} LatestPlace */

/**
 * Creates the reader of pages of sensors with their latest values. It reads the whole fleet or one device from the table
 * `sensor`, and the sensors of a type, a site or a name prefix by an index.
 *
 * @param {object} deps
 * @param {LatestRows} deps.latest
 * @param {SensorIndex} deps.index
 * @param {number} deps.groups `LATEST_GROUPS`
 * @param {() => number} deps.clock epoch ms
 * @param {(kind: IndexKind) => void} deps.onStaleIndex called for each index row that the table `sensor` contradicts
 */
export function createLatestPages({ latest, index, groups, clock, onStaleIndex }) {
  /** @param {LatestPlace} place @param {number} wanted */
  async function readAll(place, wanted) {
    const rows = await latest.after(place, wanted);
    return rows.map((row) => ({ key: keyOf(row), row: isRegistered(row) ? row : null }));
  }

  /**
   * @param {IndexKind} kind the index that is read
   * @param {string} term
   * @param {SensorFilter} filter
   * @returns {(place: LatestPlace, wanted: number) => Promise<Array<Entry<LatestRow, IndexKey>>>}
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

  /** @param {IndexKind} kind @param {IndexEntry} entry */
  async function removeStale(kind, entry) {
    onStaleIndex(kind);
    if (isOldEnough(entry, clock())) await index.remove(kind, entry);
  }

  /**
   * @param {Buffer} device 16 bytes
   * @param {SensorFilter} filter
   * @returns {(place: LatestPlace, wanted: number) => Promise<Array<Entry<LatestRow, IndexKey>>>}
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
     * Reads a page of sensors of one device. All sensors of a device are one slice of a partition. So the slice is read
     * without an index, and its rows are compared with the filter.
     *
     * @param {DeviceKey} device
     * @param {{ filter: SensorFilter, after: LatestPlace | null, limit: number }} page
     * @returns {Promise<{ rows: LatestRow[], next: LatestPlace | null }>}
     */
    readDevice: ({ group, bytes }, { filter, after, limit }) =>
      iterateGroups({
        groups: group + 1,
        from: after ?? { group },
        limit,
        checked: conditions(filter) > 0,
        read: readDevice(bytes, filter),
      }),

    /**
     * @param {{ filter: SensorFilter, after: LatestPlace | null, limit: number }} page
     * @param {number} [end] the first group that is not read
     * @returns {Promise<{ rows: LatestRow[], next: LatestPlace | null }>} at most `limit` rows; a page before the end may have fewer
     */
    read({ filter, after, limit }, end = groups) {
      const by = narrowest(filter);
      return iterateGroups({
        groups: end,
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

/**
 * The filter of a page of sensors. A sensor must meet all conditions.
 *
 * @typedef {{ type?: string, site?: string, name?: string }} SensorFilter `name` is a prefix
 */

/** @param {LatestRow} row @param {SensorFilter} filter */
export const matches = (row, { type, site, name }) =>
  (type === undefined || row.type === type) &&
  (site === undefined || row.site === site) &&
  (name === undefined || (row.name ?? '').startsWith(name));

/** @param {SensorFilter} filter @returns {number} number of conditions in the filter */
export const conditions = (filter) => Object.values(filter).filter((term) => term !== undefined).length;

/**
 * Chooses the index that is expected to match the fewest rows: first by name prefix, then by site, then by type.
 *
 * @param {SensorFilter} filter
 * @returns {{ kind: IndexKind, term: string } | null} the index and the text to find in it; null: the filter has no condition
 */
export function narrowest({ type, site, name }) {
  if (name !== undefined) return { kind: 'name', term: name };
  if (site !== undefined) return { kind: 'site', term: site };
  if (type !== undefined) return { kind: 'type', term: type };
  return null;
}
