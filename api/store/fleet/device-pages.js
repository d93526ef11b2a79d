import { uuidBytes, uuidText } from '../../../schema/ids.js';
import { deviceRow } from '../registry/rows.js';
import { walkGroups } from './walk.js';

const SELECT =
  'SELECT device_id, name, site, state, session, last_seen, registered_at FROM device WHERE grp = ?';
const FIRST = { name: 'devices_page', cql: `${SELECT} LIMIT ?` };
const NEXT = { name: 'devices_page', cql: `${SELECT} AND device_id > ? LIMIT ?` };

/** @typedef {import('../registry/rows.js').DeviceRow & { id: string }} IdentifiedDevice */
/** @typedef {import('./walk.js').Place<string>} DevicePlace the key is the device's id */

/**
 * Pages of devices.
 *
 * @param {{ session: import('../session.js').Session, groups: number }} parts
 */
export function createDevicePages({ session, groups }) {
  /** @param {DevicePlace} place @param {number} wanted */
  const rowsAfter = ({ group, key }, wanted) =>
    key === undefined
      ? session.all(FIRST, [group, wanted])
      : session.all(NEXT, [group, uuidBytes(key), wanted]);

  return {
    /**
     * @param {object} page
     * @param {((device: IdentifiedDevice) => boolean) | null} page.accept null: all are wanted
     * @param {DevicePlace | null} page.after
     * @param {number} page.limit
     * @returns {Promise<{ rows: IdentifiedDevice[], next: DevicePlace | null }>}
     */
    read: ({ accept, after, limit }) =>
      walkGroups({
        groups,
        from: after ?? { group: 0 },
        limit,
        checked: accept !== null,
        read: async (place, wanted) =>
          (await rowsAfter(place, wanted)).map((row) => {
            const key = uuidText(row['device_id'].getBuffer());
            // A status or last_seen that came late leaves a row without a registration.
            const device = row['registered_at'] ? { ...deviceRow(row), id: key } : null;
            return { key, row: device && (accept === null || accept(device)) ? device : null };
          }),
      }),
  };
}
