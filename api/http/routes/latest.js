import { z } from 'zod';
import { groupOf } from '../../../schema/ids.js';
import { json, PAGED } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas.js';
import { latestItem } from '../items.js';
import { fields, parseDevice, readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

export const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  type: fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  site: fields.name.meta({ description: 'Sensors of this site.' }),
  name: fields.name.meta({ description: 'Sensors whose name begins with this text.', example: 'temp' }),
  device: fields.id.meta({
    description: 'Sensors of this device: a UUID in lower case, or a name.',
    example: 'my-desk',
  }),
};

/**
 * `GET /latest`: the latest value of every sensor, page by page.
 *
 * @param {RouteDeps} deps
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
  description: 'A sensor must match all filters. A page may be short, even empty, before the last one.',
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

/** For the document only. `readSubscription` reads the query, since a name may contain a slash. */
const SUBSCRIPTION = {
  device: z
    .array(z.string())
    .optional()
    .meta({ description: 'Follow all sensors of this device. May be repeated.' }),
  sensor: z
    .array(z.string().regex(/^[^/]+\/.+$/))
    .optional()
    .meta({
      description: 'Follow this sensor: `DEVICE/SENSOR`, each part percent-encoded. May be repeated.',
    }),
};

/** The schemas of the data of events, by event name. @type {Record<string, z.ZodType>} */
export const EVENTS = { snapshot: SCHEMAS.Snapshot, delta: SCHEMAS.Delta, stats: SCHEMAS.Stats };

/** @type {Operation} */
export const followLatest = {
  id: 'followLatest',
  tag: 'latest',
  scope: 'read',
  summary: 'Latest values as they change',
  description: `Server-sent events, for a browser's \`EventSource\`. Without \`device\` and \`sensor\` the stream follows the whole fleet.

| event | data |
| --- | --- |
| \`snapshot\` | \`Snapshot\`: the current values; a large snapshot is sent as several events |
| \`delta\` | \`Delta\`: the sensors that changed, each at most once, and the commit time of the oldest change |
| \`stats\` | \`Stats\`, every second; \`/pipeline/recent\` has earlier ones |

An \`EventSource\` that reconnects sends \`Last-Event-ID\` and gets the changes since that event. If the process no longer knows that
event, it sends a snapshot again, so there is never a gap. If several events belong together, only the last one has an id. A device or sensor that does not
exist yet appears with its first value. A client that reads too slowly is disconnected and reconnects. A change that is lost on its way to
this process is sent within 30 s.`,
  query: SUBSCRIPTION,
  answers: {
    200: {
      'text/event-stream': {
        text: 'Events. Their data has the schemas `Snapshot`, `Delta` and `Stats`.',
        example:
          'id: 3f2a9c01d4b87e65-1\nevent: delta\ndata: {"items":[],"committed_at":null,"sent_at":"2026-11-21T00:00:00.000Z"}\n\n',
      },
    },
  },
  problems: ['bad_parameter', 'bad_id', 'busy'],
};
