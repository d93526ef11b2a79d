import { groupOf, uuidBytes } from '../../../schema/ids.js';
import { matches } from '../../store/fleet/sensor-filter.js';
import { latestItem } from '../items.js';
import { fields, readDevice, readQuery } from '../parameters.js';

const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  type: fields.name,
  site: fields.name,
  name: fields.name,
  device: fields.name,
};

/**
 * `GET /latest`: the latest value of every sensor, page by page.
 *
 * @param {import('../app.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getLatest =
  ({ store, cursors, groups }) =>
  async (req, res) => {
    const { limit, cursor, device, ...filter } = readQuery(req, QUERY);
    const identity = device === undefined ? null : readDevice(device);
    const scope = JSON.stringify(['latest', filter, identity?.id]);
    const after = cursor === undefined ? null : cursors.open(scope, cursor);
    const { rows, next } = identity
      ? await pageOfDevice(store, groups, identity.id, filter, after, limit)
      : await store.fleet.latestPage({ filter, after, limit });
    res.json({ items: rows.map(latestItem), next: next && cursors.seal(scope, next) });
  };

/**
 * One device is one slice of a partition, read as a whole.
 *
 * @param {import('../../store/index.js').Store} store
 * @param {number} groups
 * @param {string} id
 * @param {import('../../store/fleet/sensor-filter.js').SensorFilter} filter
 * @param {{ sensor: string } | null} after
 * @param {number} limit
 */
async function pageOfDevice(store, groups, id, filter, after, limit) {
  const bytes = uuidBytes(id);
  const all = await store.fleet.latestOfDevice({ group: groupOf(bytes, groups), bytes });
  const rest = after ? all.slice(all.findIndex((row) => row.id === after.sensor) + 1) : all;
  const matching = rest.filter((row) => matches(row, filter));
  const rows = matching.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: last && matching.length > limit ? { sensor: last.id } : null };
}
