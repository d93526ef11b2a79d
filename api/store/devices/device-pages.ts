import cassandra from 'cassandra-driver';
import { uuidBytes, uuidText } from '../../../schema/ids.ts';
import { type DeviceRow, deviceRow } from '../registry/rows.ts';
import type { Row, Session } from '../sending/session.ts';
import { createDeviceIndex, isOldEnough } from './device-index.ts';
import { type Entry, iterateGroups, type Place } from './group-iterator.ts';

const { types } = cassandra;

/** ScyllaDB accepts 100 clustering keys in one IN. */
const KEYS_PER_READ = 100;

const SELECT =
  'SELECT device_id, name, site, label, state, session, last_seen, registered_at FROM device WHERE grp = ?';
const FIRST = { name: 'devices_page', cql: `${SELECT} LIMIT ?` };
const NEXT = { name: 'devices_page', cql: `${SELECT} AND device_id > ? LIMIT ?` };
const BY_KEYS = { name: 'devices_keys', cql: `${SELECT} AND device_id IN ?` };

type IdentifiedDevice = DeviceRow & { id: string };
export type DevicePlace = Place<string>;
type DeviceEntry = Entry<IdentifiedDevice, string>;

/** Reads the whole fleet from the table `device`, and the devices of a site by the index of sites. */
export function createDevicePages({
  session,
  groups,
  clock,
  onStaleIndex,
}: {
  session: Session;
  groups: number;
  clock: () => number;
  /** called for each index row that the table `device` contradicts */
  onStaleIndex: (kind: string) => void;
}) {
  const index = createDeviceIndex(session);

  async function readAll({ group, key }: DevicePlace, wanted: number): Promise<DeviceEntry[]> {
    const rows =
      key === undefined
        ? await session.all(FIRST, [group, wanted])
        : await session.all(NEXT, [group, uuidBytes(key), wanted]);
    return rows.map((row) => ({ key: idOf(row), row: registered(row) }));
  }

  async function byKeys(group: number, ids: string[]): Promise<Map<string, IdentifiedDevice>> {
    const found: Map<string, IdentifiedDevice> = new Map();
    for (let from = 0; from < ids.length; from += KEYS_PER_READ) {
      const keys = ids.slice(from, from + KEYS_PER_READ).map((id) => new types.Uuid(uuidBytes(id)));
      for (const row of await session.all(BY_KEYS, [group, keys])) {
        const device = registered(row);
        if (device) found.set(device.id, device);
      }
    }
    return found;
  }

  const readSite =
    (site: string): ((place: DevicePlace, wanted: number) => Promise<DeviceEntry[]>) =>
    async (place, wanted) => {
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
    /** A page before the end may have fewer than `limit` devices. */
    read({
      site,
      accept,
      after,
      limit,
    }: {
      site?: string;
      /** null: all devices */
      accept: ((device: IdentifiedDevice) => boolean) | null;
      after: DevicePlace | null;
      limit: number;
    }): Promise<{ rows: IdentifiedDevice[]; next: DevicePlace | null }> {
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

const idOf = (row: Row) => uuidText(row['device_id'].getBuffer());

/** A retirement, or a late write of status or `last_seen`, leaves a row without a registration. */
const registered = (row: Row): IdentifiedDevice | null =>
  row['registered_at'] ? { ...deviceRow(row), id: idOf(row) } : null;
