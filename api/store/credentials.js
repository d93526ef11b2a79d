import cassandra from 'cassandra-driver';
import { groupOf, uuidBytes, uuidText } from '../../schema/ids.js';
import { int64 } from './cells.js';
import { walkGroups } from './devices/group-iterator.js';

/** @import { Place } from './devices/group-iterator.js' */
/** @import { Row, Session } from './session.js' */

const { types } = cassandra;

/** ScyllaDB takes 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, account, hash, devices, issued_at, changed_at, WRITETIME(hash) AS stamp FROM credential WHERE grp = ?';
const ONE = { name: 'read_credential', cql: `${SELECT} AND device_id = ?` };
const FIRST = { name: 'credentials_page', cql: `${SELECT} LIMIT ?` };
const NEXT = { name: 'credentials_page', cql: `${SELECT} AND device_id > ? LIMIT ?` };
const STAMPS = {
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
 * What an account signs in with.
 *
 * @typedef {object} Credential
 * @property {string} deviceId the device whose account it is
 * @property {string} account as it was given: the device's name, or its id
 * @property {string} hash of the secret; empty: revoked
 * @property {string[]} devices names or ids of those that it may speak for beside itself
 * @property {number} issuedAt epoch ms
 * @property {number} changedAt epoch ms of the last change; later than that of the one before, whatever the clocks say
 * @property {number} stamp epoch µs of the row's writing, by the database: another one is another credential
 */

/** @typedef {Omit<Credential, 'stamp'>} NewCredential */

/** @typedef {Place<string>} CredentialPlace the key is the device's id */

/**
 * The credentials of devices.
 *
 * @param {Session} session
 * @param {number} groups `LATEST_GROUPS`
 */
export function createCredentialStore(session, groups) {
  /** @param {CredentialPlace} place @param {number} wanted */
  async function after({ group, key }, wanted) {
    const rows =
      key === undefined
        ? await session.all(FIRST, [group, wanted])
        : await session.all(NEXT, [group, uuidBytes(key), wanted]);
    return rows.map(credentialOf).map((row) => ({ key: row.deviceId, row: row.hash === '' ? null : row }));
  }

  return {
    /** @param {Buffer} device the id's 16 bytes @returns {Promise<Credential | null>} null: it never had one; a revoked one is told */
    async find(device) {
      const row = await session.one(ONE, [groupOf(device, groups), device]);
      return row && credentialOf(row);
    },

    /**
     * @param {{ after: CredentialPlace | null, limit: number }} page
     * @returns {Promise<{ rows: Credential[], next: CredentialPlace | null }>} those that are not revoked; maybe fewer before the end
     */
    page: ({ after: place, limit }) =>
      walkGroups({ groups, from: place ?? { group: 0 }, limit, checked: true, read: after }),

    /**
     * @param {string[]} devices ids
     * @returns {Promise<Map<string, number>>} the stamps of those that ever had a credential
     */
    async stamps(devices) {
      /** @type {Map<string, number>} */
      const stamps = new Map();
      for (const [group, ids] of byGroup(devices, groups)) {
        for (let from = 0; from < ids.length; from += KEYS_PER_READ) {
          const keys = ids.slice(from, from + KEYS_PER_READ).map((id) => new types.Uuid(uuidBytes(id)));
          for (const row of await session.all(STAMPS, [group, keys])) {
            stamps.set(uuidText(row['device_id'].getBuffer()), Number(row['stamp']));
          }
        }
      }
      return stamps;
    },

    /**
     * Puts a credential in place of the one that was read, by a lightweight transaction within the data centre.
     *
     * @param {NewCredential} credential its `changedAt` is later
     * @param {Pick<Credential, 'changedAt'> | null} before null: there was none
     * @returns {Promise<boolean>} false: it has been changed since it was read, by somebody else or, where the driver repeated it, by this
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
const credentialOf = (row) => ({
  deviceId: uuidText(row['device_id'].getBuffer()),
  account: row['account'],
  hash: row['hash'],
  devices: row['devices'] ?? [],
  issuedAt: row['issued_at'].getTime(),
  changedAt: row['changed_at'].getTime(),
  stamp: Number(row['stamp']),
});
