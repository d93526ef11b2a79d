import cassandra from 'cassandra-driver';
import { type DeviceBytes, groupOf, uuidBytes, uuidText } from '../../../schema/ids.ts';
import type { Place } from '../../store/devices/device-pages.ts';
import { int64, iterateGroups, type Store } from '../../store/index.ts';
import type { Row } from '../../store/sending/session.ts';

const { types } = cassandra;

/** ScyllaDB accepts 100 clustering keys in one IN. */
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

export interface Credential {
  deviceId: string;
  /** the user name: the name or the id of the device, as the credential was issued */
  account: string;
  /** empty: the credential is revoked */
  hash: string;
  /** names or ids of other devices for which the account may publish too */
  devices: string[];
  /** epoch ms */
  issuedAt: number;
  /** epoch ms of the last change; greater after each change, even if clocks differ */
  changedAt: number;
  /** write timestamp of the row, in epoch µs; different after every change */
  writtenAt: number;
}

export type NewCredential = Omit<Credential, 'writtenAt'>;

export type CredentialPlace = Place<string>;

export function createCredentialStore({ session, groups }: Pick<Store, 'session' | 'groups'>) {
  async function readAfter({ group, key }: CredentialPlace, wanted: number) {
    const rows =
      key === undefined
        ? await session.all(FIRST, [group, wanted])
        : await session.all(NEXT, [group, uuidBytes(key), wanted]);
    return rows.map(toCredential).map((row) => ({ key: row.deviceId, row: row.hash === '' ? null : row }));
  }

  return {
    /** @returns the credential, even if it is revoked; null: the device never had a credential */
    async find(device: DeviceBytes): Promise<Credential | null> {
      const row = await session.one(ONE, [groupOf(device, groups), device]);
      return row && toCredential(row);
    },

    page: ({
      after,
      limit,
    }: {
      after: CredentialPlace | null;
      limit: number;
    }): Promise<{ rows: Credential[]; next: CredentialPlace | null }> =>
      iterateGroups({ groups, from: after ?? { group: 0 }, limit, checked: true, read: readAfter }),

    /** @returns by device id; devices that never had a credential are missing */
    async writeTimes(devices: string[]): Promise<Map<string, number>> {
      const writeTimes: Map<string, number> = new Map();
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
     * A lightweight transaction, unless the credential has changed since it was read.
     * @param credential with a `changedAt` that is greater than that of `before`
     * @param before null: there was no credential
     * @returns false: another caller, or a repetition of this request by the driver, has already changed the credential
     */
    async replace(
      { deviceId, account, hash, devices, issuedAt, changedAt }: NewCredential,
      before: Pick<Credential, 'changedAt'> | null,
    ): Promise<boolean> {
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

export type CredentialStore = ReturnType<typeof createCredentialStore>;

function byGroup(devices: string[], groups: number): Map<number, string[]> {
  const parts: Map<number, string[]> = new Map();
  for (const id of devices) {
    const group = groupOf(uuidBytes(id), groups);
    const part = parts.get(group);
    if (part) part.push(id);
    else parts.set(group, [id]);
  }
  return parts;
}

const toCredential = (row: Row): Credential => ({
  deviceId: uuidText(row['device_id'].getBuffer()),
  account: row['account'],
  hash: row['hash'],
  devices: row['devices'] ?? [],
  issuedAt: row['issued_at'].getTime(),
  changedAt: row['changed_at'].getTime(),
  writtenAt: Number(row['stamp']),
});
