import { iterateGroups } from '../../../api/store/devices/group-iterator.js';
import { groupOf, uuidBytes, uuidText } from '../../../schema/ids.js';

/** @import { Credential, CredentialStore, NewCredential } from '../../../api/store/credentials.js' */

/**
 * The table `credential` in memory. `test/support/store-contract/credentials.js` checks it and the real store alike.
 *
 * @param {{ groups?: number }} [options]
 * @returns {CredentialStore}
 */
export function createMemoryCredentials({ groups = 4 } = {}) {
  /** @type {Map<string, Credential>} by device id */
  const rows = new Map();
  let writtenAt = 1_795_000_000_000_000;

  /** @param {number} group @returns {Credential[]} in the order of their ids */
  const inGroup = (group) =>
    [...rows.values()]
      .filter(({ deviceId }) => groupOf(uuidBytes(deviceId), groups) === group)
      .sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1));

  return {
    async find(device) {
      const row = rows.get(uuidText(device));
      return row ? copyOf(row) : null;
    },

    page: ({ after, limit }) =>
      iterateGroups({
        groups,
        from: after ?? { group: 0 },
        limit,
        checked: true,
        read: async ({ group, key = '' }, wanted) =>
          inGroup(group)
            .filter(({ deviceId }) => deviceId > key)
            .slice(0, wanted)
            .map((row) => ({ key: row.deviceId, row: row.hash === '' ? null : copyOf(row) })),
      }),

    writeTimes: async (devices) =>
      new Map(
        devices.flatMap((device) => {
          const row = rows.get(device);
          return row ? [/** @type {[string, number]} */ ([device, row.writtenAt])] : [];
        }),
      ),

    async replace(credential, before) {
      const row = rows.get(credential.deviceId);
      if (row?.changedAt !== before?.changedAt) return false;
      rows.set(credential.deviceId, copyOf({ ...credential, writtenAt: ++writtenAt }));
      return true;
    },
  };
}

/** The database returns a set of texts in the order of their UTF-8 bytes. @param {Credential} credential @returns {Credential} */
const copyOf = ({ deviceId, account, hash, devices, issuedAt, changedAt, writtenAt }) => ({
  deviceId,
  account,
  hash,
  devices: [...new Set(devices)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  issuedAt,
  changedAt,
  writtenAt,
});
