import cassandra from 'cassandra-driver';
import { uuidBytes, uuidText } from '../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../schema/rules.js';
import { deviceRow, sensorRow } from './registry.js';

const { types } = cassandra;

/** Rows that one page reads at most when they have to be checked against filters. */
const MOST_ROWS_A_PAGE = 1000;

/** Partitions that one page reads at most: a page of a large, mostly empty fleet is short rather than slow. */
const MOST_PARTITIONS_A_PAGE = 32;

/** ScyllaDB takes 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

/** An index row that `latest` contradicts is removed once the birth that wrote it must have ended, in ms. */
const STALE_AFTER_MS = 600_000;

const COLUMNS = 'device_id, sensor_id, device, name, type, unit, site, interval_ms, registered_at, ts, value';
const LATEST_FIRST = { name: 'latest_page', cql: `SELECT ${COLUMNS} FROM latest WHERE grp = ? LIMIT ?` };
const LATEST_NEXT = {
  name: 'latest_page',
  cql: `SELECT ${COLUMNS} FROM latest WHERE grp = ? AND (device_id, sensor_id) > (?, ?) LIMIT ?`,
};
const LATEST_DEVICE = {
  name: 'latest_device',
  cql: `SELECT ${COLUMNS} FROM latest WHERE grp = ? AND device_id = ?`,
};
const LATEST_KEYS = {
  name: 'latest_keys',
  cql: `SELECT ${COLUMNS} FROM latest WHERE grp = ? AND (device_id, sensor_id) IN ?`,
};
const DEVICES_FIRST = {
  name: 'devices_page',
  cql: 'SELECT device_id, name, site, state, session, last_seen, registered_at FROM device WHERE grp = ? LIMIT ?',
};
const DEVICES_NEXT = {
  name: 'devices_page',
  cql: 'SELECT device_id, name, site, state, session, last_seen, registered_at FROM device WHERE grp = ? AND device_id > ? LIMIT ?',
};

const INDEX_COLUMNS = 'device_id, sensor_id, written_at, WRITETIME(written_at) AS stamp';

/**
 * One index table: how a page of it begins, goes on, and how a row of it that is wrong is removed. The removal bears
 * the stamp of the row it removes, so that a newer row of the same key survives.
 *
 * @typedef {object} Index
 * @property {import('./session.js').Statement} first
 * @property {import('./session.js').Statement} next
 * @property {import('./session.js').Statement} remove
 * @property {(term: string, group: number) => unknown[]} firstParams
 * @property {(term: string, group: number, after: SensorPlace) => unknown[]} nextParams
 * @property {(row: import('./session.js').Row, term: string, group: number) => unknown[]} removeKey
 */

/** @param {'type' | 'site'} column @returns {Index} */
const exactIndex = (column) => ({
  first: {
    name: `by_${column}`,
    cql: `SELECT ${INDEX_COLUMNS} FROM sensor_by_${column} WHERE ${column} = ? AND grp = ? LIMIT ?`,
  },
  next: {
    name: `by_${column}`,
    cql: `SELECT ${INDEX_COLUMNS} FROM sensor_by_${column} WHERE ${column} = ? AND grp = ? AND (device_id, sensor_id) > (?, ?) LIMIT ?`,
  },
  remove: {
    name: `unindex_${column}`,
    cql: `DELETE FROM sensor_by_${column} USING TIMESTAMP ? WHERE ${column} = ? AND grp = ? AND device_id = ? AND sensor_id = ?`,
  },
  firstParams: (term, group) => [term, group],
  nextParams: (term, group, { device, sensor }) => [term, group, uuidBytes(device), uuidBytes(sensor)],
  removeKey: (row, term, group) => [term, group, row['device_id'], row['sensor_id']],
});

/** The greatest code point: every name that begins with X lies between X and X followed by it. */
const AFTER_ALL = '\u{10ffff}';

/** @type {Record<'type' | 'site' | 'name', Index>} */
const INDEXES = {
  type: exactIndex('type'),
  site: exactIndex('site'),
  name: {
    first: {
      name: 'by_name',
      cql: `SELECT name, ${INDEX_COLUMNS} FROM sensor_by_name WHERE grp = ? AND name >= ? AND name < ? LIMIT ?`,
    },
    next: {
      name: 'by_name',
      cql: `SELECT name, ${INDEX_COLUMNS} FROM sensor_by_name WHERE grp = ? AND (name, device_id, sensor_id) > (?, ?, ?) AND (name) < (?) LIMIT ?`,
    },
    remove: {
      name: 'unindex_name',
      cql: 'DELETE FROM sensor_by_name USING TIMESTAMP ? WHERE grp = ? AND name = ? AND device_id = ? AND sensor_id = ?',
    },
    firstParams: (term, group) => [group, term, term + AFTER_ALL],
    nextParams: (term, group, { name, device, sensor }) => [
      group,
      name,
      uuidBytes(device),
      uuidBytes(sensor),
      term + AFTER_ALL,
    ],
    removeKey: (row, _, group) => [group, row['name'], row['device_id'], row['sensor_id']],
  },
};

/**
 * Where a page of sensors ended.
 *
 * @typedef {{ group: number, device: string, sensor: string, name?: string }} SensorPlace `device` empty: before the
 *   first of the group
 */

/**
 * @typedef {import('./registry.js').SensorRow & { deviceId: string }} LatestRow
 */

/**
 * What a page of sensors is narrowed to; several conditions hold together.
 *
 * @typedef {{ type?: string, site?: string, name?: string }} SensorFilter `name` is a beginning
 */

/**
 * Pages over the fleet. The groups are walked in order, so every sensor comes once; a place is a key and no position
 * of the driver's, so that it may be kept for as long as one likes.
 *
 * @param {object} parts
 * @param {import('./session.js').Session} parts.session
 * @param {number} parts.groups `LATEST_GROUPS`
 * @param {() => number} parts.clock epoch ms
 * @param {(kind: string) => void} parts.onStaleIndex told of each index row that `latest` contradicts
 */
export function createFleet({ session, groups, clock, onStaleIndex }) {
  /** @param {SensorPlace} place @param {number} limit */
  async function latestOf({ group, device, sensor }, limit) {
    const rows = device
      ? await session.all(LATEST_NEXT, [group, uuidBytes(device), uuidBytes(sensor), limit])
      : await session.all(LATEST_FIRST, [group, limit]);
    return rows.map(latestRow);
  }

  /**
   * @param {number} group
   * @param {import('./session.js').Row[]} keys rows with device_id and sensor_id
   * @returns {Promise<Map<string, LatestRow>>} by `keyOf`
   */
  async function lookUp(group, keys) {
    const found = new Map();
    for (let from = 0; from < keys.length; from += KEYS_PER_READ) {
      const part = keys.slice(from, from + KEYS_PER_READ);
      const tuples = part.map((row) => new types.Tuple(row['device_id'], row['sensor_id']));
      for (const row of await session.all(LATEST_KEYS, [group, tuples])) {
        const latest = latestRow(row);
        found.set(`${latest.deviceId}/${latest.id}`, latest);
      }
    }
    return found;
  }

  /**
   * @param {'type' | 'site' | 'name'} kind
   * @param {string} term
   * @param {number} group
   * @param {import('./session.js').Row} row of the index
   */
  async function removeStale(kind, term, group, row) {
    onStaleIndex(kind);
    if (clock() - row['written_at'].getTime() < STALE_AFTER_MS) return;
    const { remove, removeKey } = INDEXES[kind];
    await session.write(remove, [row['stamp'], ...removeKey(row, term, group)]);
  }

  /**
   * @param {'type' | 'site' | 'name'} kind the index that is read
   * @param {SensorFilter} filter
   * @param {SensorPlace} place
   * @param {number} limit
   * @returns {Promise<{ rows: LatestRow[], read: number, end: SensorPlace | null }>} `end`: of the last index row read
   */
  async function indexed(kind, filter, place, limit) {
    const index = INDEXES[kind];
    const term = /** @type {string} */ (filter[kind]);
    const { group } = place;
    const entries = place.device
      ? await session.all(index.next, [...index.nextParams(term, group, place), limit])
      : await session.all(index.first, [...index.firstParams(term, group), limit]);
    const latest = await lookUp(group, entries);
    const rows = [];
    for (const entry of entries) {
      const row = latest.get(keyOf(entry));
      if (!row || !agrees(kind, row, entry, term)) await removeStale(kind, term, group, entry);
      else if (matches(row, filter)) rows.push(row);
    }
    const last = entries.at(-1);
    return { rows, read: entries.length, end: last ? placeOf(group, last) : null };
  }

  return {
    /**
     * A page of sensors with their latest values.
     *
     * @param {{ filter: SensorFilter, after: SensorPlace | null, limit: number }} page
     * @returns {Promise<{ rows: LatestRow[], next: SensorPlace | null }>} at most `limit` rows, maybe fewer before the end
     */
    async latest({ filter, after, limit }) {
      const kind = narrowest(filter);
      let place = after ?? { group: 0, device: '', sensor: '' };
      let budget = kind && Object.values(filter).filter(Boolean).length > 1 ? MOST_ROWS_A_PAGE : limit;
      /** @type {LatestRow[]} */
      const rows = [];
      for (let partitions = 0; partitions < MOST_PARTITIONS_A_PAGE; partitions++) {
        // Never more rows than are still wanted: with one condition, or none, what is read is what is returned.
        const wanted = Math.min(limit - rows.length, budget);
        const part = kind
          ? await indexed(kind, filter, place, wanted)
          : await plain(await latestOf(place, wanted), place.group);
        rows.push(...part.rows);
        budget -= part.read;
        if (part.read < wanted) {
          if (place.group + 1 >= groups) return { rows, next: null };
          place = { group: place.group + 1, device: '', sensor: '' };
        } else if (part.end) place = part.end;
        if (rows.length >= limit || budget <= 0) break;
      }
      return { rows, next: place };
    },

    /** @param {import('./registry.js').DeviceKey} key @returns {Promise<LatestRow[]>} all sensors of a device */
    async latestOfDevice({ group, bytes }) {
      const rows = await session.all(LATEST_DEVICE, [group, bytes], MAX_SENSORS_PER_DEVICE);
      return rows.map(latestRow).filter(isRegistered);
    },

    /**
     * The latest values of given sensors of one group.
     *
     * @param {number} group
     * @param {Array<{ device: Buffer, sensor: Buffer }>} keys
     * @returns {Promise<LatestRow[]>}
     */
    async latestOfSensors(group, keys) {
      const rows = keys.map(
        ({ device, sensor }) =>
          /** @type {any} */ ({ device_id: new types.Uuid(device), sensor_id: new types.Uuid(sensor) }),
      );
      return [...(await lookUp(group, rows)).values()].filter(isRegistered);
    },

    /**
     * A page of devices.
     *
     * @param {{ accept: (row: DevicePageRow) => boolean, filtered: boolean, after: { group: number, device: string } | null, limit: number }} page
     * @returns {Promise<{ rows: DevicePageRow[], next: { group: number, device: string } | null }>}
     */
    async devices({ accept, filtered, after, limit }) {
      let place = after ?? { group: 0, device: '' };
      let budget = filtered ? MOST_ROWS_A_PAGE : limit;
      /** @type {DevicePageRow[]} */
      const rows = [];
      for (let partitions = 0; partitions < MOST_PARTITIONS_A_PAGE; partitions++) {
        const wanted = Math.min(limit - rows.length, budget);
        const read = place.device
          ? await session.all(DEVICES_NEXT, [place.group, uuidBytes(place.device), wanted])
          : await session.all(DEVICES_FIRST, [place.group, wanted]);
        const pageRows = read.filter((row) => row['registered_at']).map(devicePageRow);
        rows.push(...pageRows.filter(accept));
        budget -= read.length;
        const last = read.at(-1);
        if (read.length < wanted) {
          if (place.group + 1 >= groups) return { rows, next: null };
          place = { group: place.group + 1, device: '' };
        } else if (last) place = { group: place.group, device: uuidText(last['device_id'].getBuffer()) };
        if (rows.length >= limit || budget <= 0) break;
      }
      return { rows, next: place };
    },
  };
}

/** @typedef {ReturnType<typeof createFleet>} Fleet */
/** @typedef {import('./registry.js').DeviceRow & { id: string }} DevicePageRow */

/** @param {import('./session.js').Row} row @returns {DevicePageRow} */
const devicePageRow = (row) => ({ ...deviceRow(row), id: uuidText(row['device_id'].getBuffer()) });

/** @param {import('./session.js').Row} row @returns {LatestRow} */
const latestRow = (row) => ({
  ...sensorRow(row),
  deviceId: uuidText(row['device_id'].getBuffer()),
});

/** A value whose sensor was retired in between leaves a row without a registration. @param {LatestRow} row */
const isRegistered = (row) => row.registeredAt !== null;

/** @param {LatestRow[]} read @param {number} group */
const plain = (read, group) => {
  const last = read.at(-1);
  return {
    rows: read.filter(isRegistered),
    read: read.length,
    end: last ? { group, device: last.deviceId, sensor: last.id } : null,
  };
};

/** @param {import('./session.js').Row} row @returns {string} */
const keyOf = (row) => `${uuidText(row['device_id'].getBuffer())}/${uuidText(row['sensor_id'].getBuffer())}`;

/** @param {number} group @param {import('./session.js').Row} row @returns {SensorPlace} */
const placeOf = (group, row) => ({
  group,
  device: uuidText(row['device_id'].getBuffer()),
  sensor: uuidText(row['sensor_id'].getBuffer()),
  ...(row['name'] === undefined ? {} : { name: row['name'] }),
});

/**
 * The index expected to have the fewest rows: a name's beginning says more than a site, a site more than a type.
 *
 * @param {SensorFilter} filter
 * @returns {'name' | 'site' | 'type' | null} null: no condition
 */
const narrowest = ({ type, site, name }) => (name ? 'name' : site ? 'site' : type ? 'type' : null);

/** @param {'type' | 'site' | 'name'} kind @param {LatestRow} row @param {import('./session.js').Row} entry @param {string} term */
const agrees = (kind, row, entry, term) =>
  isRegistered(row) && row[kind] === (kind === 'name' ? entry['name'] : term);

/** @param {LatestRow} row @param {SensorFilter} filter */
export const matches = (row, { type, site, name }) =>
  (!type || row.type === type) &&
  (!site || row.site === site) &&
  (!name || (row.name ?? '').startsWith(name));
