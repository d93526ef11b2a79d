import { uuidBytes, uuidText } from '../../../schema/ids.js';

/** @import { types } from 'cassandra-driver' */
/** @import { Session } from '../sending/session.js' */
/** @import { Place } from './group-iterator.js' */

const SELECT_BY_SITE =
  'SELECT device_id, written_at, WRITETIME(written_at) AS stamp FROM device_by_site WHERE site = ? AND grp = ?';
const FIRST = { name: 'devices_by_site', cql: `${SELECT_BY_SITE} LIMIT ?` };
const NEXT = { name: 'devices_by_site', cql: `${SELECT_BY_SITE} AND device_id > ? LIMIT ?` };
const REMOVE = {
  name: 'unindex_device',
  cql: 'DELETE FROM device_by_site USING TIMESTAMP ? WHERE site = ? AND grp = ? AND device_id = ?',
};

/**
 * One row of the index of devices by site.
 *
 * @typedef {object} DeviceEntry
 * @property {number} group
 * @property {string} key the device's id
 * @property {number} writtenAt epoch ms by the clock of the process that wrote the row
 * @property {types.Long} writeTimestamp epoch µs
 */

/**
 * Creates the store of the index table of devices by site.
 *
 * @param {Session} session
 */
export function createDeviceIndex(session) {
  return {
    /**
     * @param {string} site
     * @param {Place<string>} place
     * @param {number} limit
     * @returns {Promise<DeviceEntry[]>} the first rows of the group after `place`, in order of the device ids
     */
    async after(site, { group, key }, limit) {
      const rows =
        key === undefined
          ? await session.all(FIRST, [site, group, limit])
          : await session.all(NEXT, [site, group, uuidBytes(key), limit]);
      return rows.map((row) => ({
        group,
        key: uuidText(row['device_id'].getBuffer()),
        writtenAt: row['written_at'].getTime(),
        writeTimestamp: row['stamp'],
      }));
    },

    /**
     * Removes an index row. The removal has the write timestamp of the row that was read, so a newer row of
     * the device survives.
     *
     * @param {string} site
     * @param {DeviceEntry} entry
     */
    remove: (site, { group, key, writeTimestamp }) =>
      session.write(REMOVE, [writeTimestamp, site, group, uuidBytes(key)]),
  };
}

/** @typedef {ReturnType<typeof createDeviceIndex>} DeviceIndex */

/** Age in ms at which a stale index row is removed. A younger row may belong to a registration that is still in progress. */
const STALE_AFTER_MS = 600_000;

/** @param {{ writtenAt: number }} entry epoch ms @param {number} now epoch ms */
export const isOldEnough = ({ writtenAt }, now) => now - writtenAt >= STALE_AFTER_MS;
