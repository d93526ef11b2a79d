import cassandra from 'cassandra-driver';
import { groupOf, uuidBytes, uuidText } from '../../schema/ids.js';
import { int64 } from './cql-encoding.js';
import { iterateGroups } from './devices/group-iterator.js';

/** @import { Place } from './devices/group-iterator.js' */
/** @import { Row, Session } from './sending/session.js' */

const { types } = cassandra;

/** Limit of clustering keys in one IN. ScyllaDB accepts 100. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, account, hash, devices, issued_at, changed_at, WRITETIME(hash) AS stamp FROM credential WHERE grp = ?';
const ONE = { name: 'read_credential', cql: `${SELECT} AND device_id = ?` };
const FIRST = { name: 'credentials_page', cql: `${SELECT} LIMIT ?` };
const NEXT = { name: 'credentials_page', cql: `${SELECT} AND device_id > ? LIMIT ?` };
const WRITE_TIMES = {
  name: 'credential_stamps',
  cql: 'SELECT device_id, WRITETIME(hash) AS stamp FROM credential WHERE grp = ? AND device_id IN ?',
};
const ADD = {
  name: 'add_credential',
  cql: 'INSERT INTO credential (account, hash, devices, issued_at, changed_at, grp, device_id) VALUES (?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS',
};
const CHANGE = {
  name: 'change_credential',
  cql: 'UPDATE credential SET account = ?, hash = ?, devices = ?, issued_at = ?, changed_at = ? WHERE grp = ? AND device_id = ? IF changed_at = ?',
};

/**
 * The credential of an MQTT account.
 *
 * @typedef {object} Credential
 * @property {string} deviceId the device that owns the account
 * @property {string} account the user name: the name or the id of the device, as the credential was issued
 * @property {string} hash hash of the secret; empty: the credential is revoked
 * @property {string[]} devices names or ids of other devices for which the account may publish too
 * @property {number} issuedAt epoch ms
 * @property {number} changedAt epoch ms of the last change; greater after each change, even if clocks differ
 * @property {number} writtenAt write timestamp of the row, in epoch µs; different after every change
 */

/** @typedef {Omit<Credential, 'writtenAt'>} NewCredential */

/** A position in the list of credentials. Its key is a device id. @typedef {Place<string>} CredentialPlace */

/**
 * Creates the store of device credentials.
 *
 * @param {Session} session
 * @param {number} groups `LATEST_GROUPS`
 */
export function createCredentialStore(session, groups) {
  /** @param {CredentialPlace} place @param {number} wanted */
  async function readAfter({ group, key }, wanted) {
    const rows =
      key === undefined
        ? await session.all(FIRST, [group, wanted])
        : await session.all(NEXT, [group, uuidBytes(key), wanted]);
    return rows.map(toCredential).map((row) => ({ key: row.deviceId, row: row.hash === '' ? null : row }));
  }

  return {
    /**
     * @param {Buffer} device the 16 bytes of the id
     * @returns {Promise<Credential | null>} the credential, even if it is revoked; null: the device never had a credential
     */
    async find(device) {
      const row = await session.one(ONE, [groupOf(device, groups), device]);
      return row && toCredential(row);
    },

    /**
     * @param {{ after: CredentialPlace | null, limit: number }} page
     * @returns {Promise<{ rows: Credential[], next: CredentialPlace | null }>} a page without revoked credentials; a page before the
     *   end may have fewer rows than `limit`
     */
    page: ({ after, limit }) =>
      iterateGroups({ groups, from: after ?? { group: 0 }, limit, checked: true, read: readAfter }),

    /**
     * @param {string[]} devices ids
     * @returns {Promise<Map<string, number>>} `writtenAt` by device id; devices that never had a credential are missing
     */
    async writeTimes(devices) {
      /** @type {Map<string, number>} */
      const writeTimes = new Map();
      for (const [group, ids] of byGroup(devices, groups)) {
        for (let from = 0; from < ids.length; from += KEYS_PER_READ) {
          const keys = ids.slice(from, from + KEYS_PER_READ).map((id) => new types.Uuid(uuidBytes(id)));
          for (const row of await session.all(WRITE_TIMES, [group, keys])) {
            writeTimes.set(uuidText(row['device_id'].getBuffer()), Number(row['stamp']));
          }
        }
      }
      return writeTimes;
    },

    /**
     * Replaces a credential by a lightweight transaction within the data center, unless the credential has changed
     * since it was read.
     *
     * @param {NewCredential} credential with a `changedAt` that is greater than that of `before`
     * @param {Pick<Credential, 'changedAt'> | null} before null: there was no credential
     * @returns {Promise<boolean>} false: another caller, or a repetition of this request by the driver, has already
     *   changed the credential
     */
    async replace({ deviceId, account, hash, devices, issuedAt, changedAt }, before) {
      const device = uuidBytes(deviceId);
      const row = [
        account,
        hash,
        devices,
        int64(issuedAt),
        int64(changedAt),
        groupOf(device, groups),
        device,
      ];
      const answer = before
        ? await session.one(CHANGE, [...row, int64(before.changedAt)])
        : await session.one(ADD, row);
      return answer?.['[applied]'] === true;
    },
  };
}

/** @typedef {ReturnType<typeof createCredentialStore>} CredentialStore */

/** @param {string[]} devices ids @param {number} groups @returns {Map<number, string[]>} */
function byGroup(devices, groups) {
  /** @type {Map<number, string[]>} */
  const parts = new Map();
  for (const id of devices) {
    const group = groupOf(uuidBytes(id), groups);
    const part = parts.get(group);
    if (part) part.push(id);
    else parts.set(group, [id]);
  }
  return parts;
}

/** @param {Row} row @returns {Credential} */
const toCredential = (row) => ({
  deviceId: uuidText(row['device_id'].getBuffer()),
  account: row['account'],
  hash: row['hash'],
  devices: row['devices'] ?? [],
  issuedAt: row['issued_at'].getTime(),
  changedAt: row['changed_at'].getTime(),
  writtenAt: Number(row['stamp']),
});
