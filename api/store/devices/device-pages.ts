import cassandra from 'cassandra-driver';
import { uuidBytes, uuidText } from '../../../schema/ids.js';
import { deviceRow } from '../registry/rows.js';
import { createDeviceIndex, isOldEnough } from './device-index.js';
import { iterateGroups } from './group-iterator.js';

/** @import { DeviceRow } from '../registry/rows.js' */
/** @import { Row, Session } from '../sending/session.js' */
/** @import { Entry, Place } from './group-iterator.js' */

const { types } = cassandra;

/** Limit of clustering keys in one IN. ScyllaDB accepts 100. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, name, site, label, state, session, last_seen, registered_at FROM device WHERE grp = ?';
const FIRST = { name: 'devices_page', cql: `${SELECT} LIMIT ?` };
const NEXT = { name: 'devices_page', cql: `${SELECT} AND device_id > ? LIMIT ?` };
const BY_KEYS = { name: 'devices_keys', cql: `${SELECT} AND device_id IN ?` };

/** @typedef {DeviceRow & { id: string }} IdentifiedDevice */
/** A position in the list of devices. Its key is a device id. @typedef {Place<string>} DevicePlace */
/** @typedef {Entry<IdentifiedDevice, string>} DeviceEntry */

/**
 * Creates the reader of pages of devices. It reads the whole fleet from the table `device`, and the devices of a
 * site by the index of sites.
 *
 * @param {object} deps
 * @param {Session} deps.session
 * @param {number} deps.groups `LATEST_GROUPS`
 * @param {() => number} deps.clock epoch ms
 * @param {(kind: string) => void} deps.onStaleIndex called for each index row that the table `device` contradicts
 */
export function createDevicePages({ session, groups, clock, onStaleIndex }) {
  const index = createDeviceIndex(session);

  /** @param {DevicePlace} place @param {number} wanted @returns {Promise<DeviceEntry[]>} */
  async function readAll({ group, key }, wanted) {
    const rows =
      key === undefined
        ? await session.all(FIRST, [group, wanted])
        : await session.all(NEXT, [group, uuidBytes(key), wanted]);
    return rows.map((row) => ({ key: idOf(row), row: registered(row) }));
  }

  /** @param {number} group @param {string[]} ids @returns {Promise<Map<string, IdentifiedDevice>>} the registered devices by id */
  async function byKeys(group, ids) {
    /** @type {Map<string, IdentifiedDevice>} */
    const found = new Map();
    for (let from = 0; from < ids.length; from += KEYS_PER_READ) {
      const keys = ids.slice(from, from + KEYS_PER_READ).map((id) => new types.Uuid(uuidBytes(id)));
      for (const row of await session.all(BY_KEYS, [group, keys])) {
        const device = registered(row);
        if (device) found.set(device.id, device);
      }
    }
    return found;
  }

  /** @param {string} site @returns {(place: DevicePlace, wanted: number) => Promise<DeviceEntry[]>} */
  const readSite = (site) => async (place, wanted) => {
    const found = await index.after(site, place, wanted);
    const devices = await byKeys(
      place.group,
      found.map(({ key }) => key),
    );
    const entries = [];
    for (const entry of found) {
      const device = devices.get(entry.key);
      const holds = device?.site === site;
      if (!holds) {
        onStaleIndex('device_site');
        if (isOldEnough(entry, clock())) await index.remove(site, entry);
      }
      entries.push({ key: entry.key, row: holds ? device : null });
    }
    return entries;
  };

  return {
    /**
     * @param {object} page
     * @param {string} [page.site]
     * @param {((device: IdentifiedDevice) => boolean) | null} page.accept null: all devices
     * @param {DevicePlace | null} page.after
     * @param {number} page.limit
     * @returns {Promise<{ rows: IdentifiedDevice[], next: DevicePlace | null }>} at most `limit` devices; a page before the end may
     *   have fewer
     */
    read({ site, accept, after, limit }) {
      const source = site === undefined ? readAll : readSite(site);
      return iterateGroups({
        groups,
        from: after ?? { group: 0 },
        limit,
        checked: accept !== null,
        read: async (place, wanted) =>
          (await source(place, wanted)).map(({ key, row }) => ({
            key,
            row: row && (accept === null || accept(row)) ? row : null,
          })),
      });
    },
  };
}

/** @param {Row} row */
const idOf = (row) => uuidText(row['device_id'].getBuffer());

/**
 * Returns the device of a row, or null if the device is not registered. A retirement, or a late write of status or
 * `last_seen`, leaves a row without a registration.
 *
 * @param {Row} row
 * @returns {IdentifiedDevice | null}
 */
const registered = (row) => (row['registered_at'] ? { ...deviceRow(row), id: idOf(row) } : null);
