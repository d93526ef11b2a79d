import { forEachConcurrently } from '../../common/concurrency.js';
import { groupOf, uuidBytes } from '../../schema/ids.js';
import { cutRange } from './parameters.js';

/** @import { LatestRow } from '../store/devices/latest-rows.js' */
/** @import { RouteDeps } from './api.js' */

/** Sensors that are read at once. */
const AT_ONCE = 16;

/**
 * Replaces the latest values by those at or before an instant.
 *
 * @param {RouteDeps} deps
 * @param {LatestRow[]} rows
 * @param {number} instant epoch ms
 * @param {AbortSignal} [signal] aborts when the client disconnects
 * @returns {Promise<LatestRow[]>} in the same order; a sensor without a value then has neither `ts` nor `value`
 * @throws the reason with which `signal` was aborted
 */
export async function rowsAsOf(deps, rows, instant, signal) {
  const { store, reading, groups } = deps;
  const retained = cutRange({ to: instant + 1 }, deps);
  const devices = new Map(rows.map((row) => [row.deviceId, uuidBytes(row.deviceId)]));
  /**
   * Devices that were retired and registered again. Samples from before may have later times than `latest`.
   *
   * @type {Set<string>}
   */
  const retired = new Set();
  await forEachConcurrently(AT_ONCE, devices, async ([id, bytes]) => {
    signal?.throwIfAborted();
    const at = await store.devices.retiredAt({ group: groupOf(bytes, groups), bytes });
    if (at !== null) retired.add(id);
  });

  /** @param {LatestRow} row @returns {Promise<Pick<LatestRow, 'ts' | 'value'>>} */
  async function read(row) {
    if (!retired.has(row.deviceId) && (row.ts === null || row.ts <= instant)) return row;
    const device = uuidBytes(row.deviceId);
    const key = { group: groupOf(device, groups), device, sensor: uuidBytes(row.id) };
    const range = { ...retained };
    while (range.from < range.to) {
      signal?.throwIfAborted();
      const { times, values, reached } = await reading.page(key, range, { order: 'desc', limit: 1 });
      const [ts, value] = [times[0], values[0]];
      if (ts !== undefined && value !== undefined) return { ts, value };
      // A page of mostly empty hours may end before the range does.
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
