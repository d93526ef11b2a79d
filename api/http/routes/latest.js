import { z } from 'zod';
import { groupOf } from '../../../schema/ids.js';
import { json, PAGED } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas.js';
import { latestItem } from '../items.js';
import { fields, parseDevice, readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { RouteParts } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

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
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getLatest =
  ({ store, cursors, groups }) =>
  async (req, res) => {
    const { limit, cursor, device: ref, ...filter } = readQuery(req, QUERY);
    const device = ref === undefined ? null : parseDevice(ref);
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

/** @type {Operation} */
export const listLatest = {
  id: 'listLatest',
  tag: 'latest',
  scope: 'read',
  summary: 'The latest value of every sensor, page by page',
  description: 'Filters hold together. A page may be short, even empty, before the last one.',
  query: QUERY,
  answers: { 200: json(SCHEMAS.LatestPage) },
  links: {
    sensor: {
      to: 'readSensor',
      parameters: {
        device: '$response.body#/items/0/device_id',
        sensor: '$response.body#/items/0/sensor_id',
      },
    },
  },
  problems: [...PAGED, 'bad_id'],
};

/** Read by `readSubscription`, since a name may hold a slash. */
const SUBSCRIPTION = {
  device: z
    .array(z.string())
    .optional()
    .meta({ description: 'Follow all sensors of this device; any number of times.' }),
  sensor: z
    .array(z.string().regex(/^[^/]+\/.+$/))
    .optional()
    .meta({
      description: 'Follow this sensor, `DEVICE/SENSOR`, each part percent-encoded; any number of times.',
    }),
};

/** The data of events, by their names. @type {Record<string, z.ZodType>} */
export const EVENTS = { snapshot: SCHEMAS.Snapshot, delta: SCHEMAS.Delta, stats: SCHEMAS.Stats };

/** @type {Operation} */
export const followLatest = {
  id: 'followLatest',
  tag: 'latest',
  scope: 'read',
  summary: 'Latest values as they change',
  description: `Server-sent events, for a browser's \`EventSource\`. With neither \`device\` nor \`sensor\`: the whole fleet.

| event | data |
| --- | --- |
| \`snapshot\` | \`Snapshot\`: what is so now; a large one comes in several |
| \`delta\` | \`Delta\`: what is new since, each sensor at most once, and how long ago it was committed |
| \`stats\` | \`Stats\`, every second; those before are at \`/pipeline/recent\` |

An \`EventSource\` that comes back says with \`Last-Event-ID\` how far it got, and is told what has changed since; where that is not
known any more, it begins with a snapshot again, so there is never a gap. The last event of several that belong together has the id.
What does not exist yet is followed from its first value on. Whoever reads too slowly is dropped, and comes back. A change that is lost on its way to this process is told within 30 s.`,
  query: SUBSCRIPTION,
  answers: {
    200: {
      'text/event-stream': {
        text: 'Events; the schemas `Snapshot`, `Delta` and `Stats` are those of their data.',
        example:
          'id: 3f2a9c01d4b87e65-1\nevent: delta\ndata: {"items":[],"committed_at":null,"sent_at":"2026-11-21T00:00:00.000Z"}\n\n',
      },
    },
  },
  problems: ['bad_parameter', 'bad_id', 'busy'],
};
