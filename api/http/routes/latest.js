import { groupOf } from '../../../schema/ids.js';
import { latestItem } from '../items.js';
import { fields, readDevice, readQuery } from '../parameters.js';

const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  type: fields.name,
  site: fields.name,
  name: fields.name,
  device: fields.id,
};

/**
 * `GET /latest`: the latest value of every sensor, page by page.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getLatest =
  ({ store, cursors, groups }) =>
  async (req, res) => {
    const { limit, cursor, device: ref, ...filter } = readQuery(req, QUERY);
    const device = ref === undefined ? null : readDevice(ref);
    const scope = JSON.stringify(['latest', filter, device?.id]);
    const page = { filter, after: cursor === undefined ? null : cursors.open(scope, cursor), limit };
    const { rows, next } = device
      ? await store.fleet.latestPageOfDevice(
          { group: groupOf(device.bytes, groups), bytes: device.bytes },
          page,
        )
      : await store.fleet.latestPage(page);
    res.json({ items: rows.map(latestItem), next: next && cursors.seal(scope, next) });
  };
