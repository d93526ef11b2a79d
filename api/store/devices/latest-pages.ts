import type { DeviceBytes } from '../../../schema/ids.ts';
import type { DeviceKey } from '../registry/rows.ts';
import { isOldEnough } from './device-index.ts';
import { type Entry, iterateGroups, type Place } from './group-iterator.ts';
import { isRegistered, keyText, type LatestRow, type LatestRows } from './latest-rows.ts';
import type { IndexEntry, IndexKey, IndexKind, SensorIndex } from './sensor-index.ts';

export type LatestPlace = Place<IndexKey>;

/** Reads the whole fleet or one device from the table `sensor`, and the sensors of a type, a site or a name prefix by an index. */
export function createLatestPages({
  latest,
  index,
  groups,
  clock,
  onStaleIndex,
}: {
  latest: LatestRows;
  index: SensorIndex;
  groups: number;
  clock: () => number;
  /** called for each index row that the table `sensor` contradicts */
  onStaleIndex: (kind: IndexKind) => void;
}) {
  async function readAll(place: LatestPlace, wanted: number) {
    const rows = await latest.after(place, wanted);
    return rows.map((row) => ({ key: keyOf(row), row: isRegistered(row) ? row : null }));
  }

  const readIndexed =
    (
      kind: IndexKind,
      term: string,
      filter: SensorFilter,
    ): ((place: LatestPlace, wanted: number) => Promise<Array<Entry<LatestRow, IndexKey>>>) =>
    async (place, wanted) => {
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

  async function removeStale(kind: IndexKind, entry: IndexEntry) {
    onStaleIndex(kind);
    if (isOldEnough(entry, clock())) await index.remove(kind, entry);
  }

  const readDevice =
    (
      device: DeviceBytes,
      filter: SensorFilter,
    ): ((place: LatestPlace, wanted: number) => Promise<Array<Entry<LatestRow, IndexKey>>>) =>
    async (place, wanted) => {
      const rows = await latest.ofDeviceAfter(device, place, wanted);
      return rows.map((row) => ({
        key: keyOf(row),
        row: isRegistered(row) && matches(row, filter) ? row : null,
      }));
    };

  return {
    /** All sensors of a device are one slice of a partition, so it is read without an index and compared with the filter. */
    readDevice: (
      { group, bytes }: DeviceKey,
      { filter, after, limit }: { filter: SensorFilter; after: LatestPlace | null; limit: number },
    ): Promise<{ rows: LatestRow[]; next: LatestPlace | null }> =>
      iterateGroups({
        groups: group + 1,
        from: after ?? { group },
        limit,
        checked: conditions(filter) > 0,
        read: readDevice(bytes, filter),
      }),

    /** @param end the first group that is not read @returns a page before the end may have fewer rows than `limit` */
    read(
      { filter, after, limit }: { filter: SensorFilter; after: LatestPlace | null; limit: number },
      end: number = groups,
    ): Promise<{ rows: LatestRow[]; next: LatestPlace | null }> {
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

const keyOf = (row: LatestRow) => ({ device: row.deviceId, sensor: row.id });

type SensorFilter = { type?: string; site?: string; name?: string };

export const matches = (row: LatestRow, { type, site, name }: SensorFilter) =>
  (type === undefined || row.type === type) &&
  (site === undefined || row.site === site) &&
  (name === undefined || (row.name ?? '').startsWith(name));

export const conditions = (filter: SensorFilter): number =>
  Object.values(filter).filter((term) => term !== undefined).length;

/**
 * Chooses the index that is expected to match the fewest rows: first by name prefix, then by site, then by type.
 * @returns null: the filter has no condition
 */
export function narrowest({ type, site, name }: SensorFilter): { kind: IndexKind; term: string } | null {
  if (name !== undefined) return { kind: 'name', term: name };
  if (site !== undefined) return { kind: 'site', term: site };
  if (type !== undefined) return { kind: 'type', term: type };
  return null;
}
