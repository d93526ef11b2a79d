import { groupOf } from '../../../schema/ids.js';
import { latestItem } from '../items.js';
import { fields, readDevice, readQuery } from '../parameters.js';

export const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  type: fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  site: fields.name.meta({ description: 'Sensors of this site.' }),
  name: fields.name.meta({ description: 'Sensors whose name begins like this.', example: 'temp' }),
  device: fields.id.meta({
    description: 'Sensors of this device: a UUID in lower case, or a name.',
    example: 'my-desk',
  }),
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
