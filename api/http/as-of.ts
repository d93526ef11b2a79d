import { forEachConcurrently } from '../../common/concurrency.ts';
import { groupOf, uuidBytes } from '../../schema/ids.ts';
import type { LatestRow } from '../store/devices/latest-rows.ts';
import { cutRange } from './parameters.ts';
import type { RouteCore } from './route.ts';

const AT_ONCE = 16;

/**
 * The newest values at or before `instant` (epoch ms), in the order of `rows`. Without such a value, `ts` and `value`
 * of a row are null.
 * @throws the reason with which `signal` was aborted
 */
export async function rowsAsOf(
  deps: RouteCore,
  rows: LatestRow[],
  instant: number,
  signal?: AbortSignal,
): Promise<LatestRow[]> {
  const { store, reading } = deps;
  const retained = cutRange({ to: instant + 1 }, deps.context);
  const devices = new Map(rows.map((row) => [row.deviceId, uuidBytes(row.deviceId)]));
  /**
   * Devices that were retired and registered again. Samples from before the retirement may be later than the time in `latest`, so these
   * devices are read in any case.
   */
  const retired: Set<string> = new Set();
  await forEachConcurrently(AT_ONCE, devices, async ([id, bytes]) => {
    signal?.throwIfAborted();
    const at = await store.devices.retiredAt({ group: groupOf(bytes, store.groups), bytes });
    if (at !== null) retired.add(id);
  });

  async function read(row: LatestRow): Promise<Pick<LatestRow, 'ts' | 'value'>> {
    if (!retired.has(row.deviceId) && (row.ts === null || row.ts <= instant)) return row;
    const device = uuidBytes(row.deviceId);
    const key = { group: groupOf(device, store.groups), device, sensor: uuidBytes(row.id) };
    const range = { ...retained };
    while (range.from < range.to) {
      signal?.throwIfAborted();
      const { times, values, reached } = await reading.page(key, range, { order: 'desc', limit: 1 });
      const [ts, value] = [times[0], values[0]];
      if (ts !== undefined && value !== undefined) return { ts, value };
      // A page may end before its range ends, because a page reads a limited number of hours. Then read the next page.
      if (reached === null) break;
      range.to = reached;
    }
    return { ts: null, value: null };
  }

  const found = [...rows];
  await forEachConcurrently(AT_ONCE, rows.entries(), async ([index, row]) => {
    const { ts, value } = await read(row);
    found[index] = { ...row, ts, value };
  });
  return found;
}
