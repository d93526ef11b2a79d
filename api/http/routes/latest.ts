import type { RequestHandler } from 'express';
import { z } from 'zod';
import { groupOf, type Identity } from '../../../schema/ids.ts';
import type { LatestPlace } from '../../store/devices/latest-pages.ts';
import { rowsAsOf } from '../as-of.ts';
import type { StreamEvent } from '../contract/openapi.ts';
import { json, type Operation, PAGED } from '../contract/operation.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import { latestItem } from '../items.ts';
import { fields, parseDevice, rangeAt, readQuery, type TimeParameter } from '../parameters.ts';
import type { Route, RouteCore } from '../route.ts';
import type { Stream } from '../stream/index.ts';
import { queryTargets } from '../targets.ts';

export const LATEST_QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  type: fields.name.meta({ description: 'Sensors of this type.', example: 'temperature' }),
  site: fields.name.meta({ description: 'Sensors of this site.' }),
  name: fields.name.meta({ description: 'Sensors whose name begins with this text.', example: 'temp' }),
  device: fields.id.meta({
    description: 'Sensors of this device: a UUID in lower case, or a name.',
    example: 'my-desk',
  }),
  asof: fields.asof,
};

/** Reads a page of the newest values, or of those at `asof`. */
export function latestPages(
  deps: RouteCore,
  {
    device,
    asof,
    ...filter
  }: {
    device: Identity | null;
    asof?: TimeParameter | undefined;
    type?: string | undefined;
    site?: string | undefined;
    name?: string | undefined;
  },
) {
  const {
    store,
    context: { clock },
  } = deps;
  const instant = rangeAt({ to: asof }, clock()).to;
  return async (after: LatestPlace | null, limit: number, signal?: AbortSignal) => {
    const page = { filter, after, limit };
    const { rows, next } = device
      ? await store.fleet.latestPageOfDevice(
          { group: groupOf(device.bytes, store.groups), bytes: device.bytes },
          page,
        )
      : await store.fleet.latestPage(page);
    return { rows: instant === undefined ? rows : await rowsAsOf(deps, rows, instant, signal), next };
  };
}

export const getLatest =
  (deps: RouteCore): RequestHandler =>
  async (req, res) => {
    const {
      http: { cursors, limits },
    } = deps;
    const { limit, cursor, device: ref, asof, ...filter } = readQuery(req, LATEST_QUERY);
    const device = ref === undefined ? null : parseDevice(ref);
    const read = latestPages(deps, { ...filter, device, asof });
    const scope = JSON.stringify(['latest', filter, device?.id, ...(asof === undefined ? [] : [asof])]);
    const after = cursor === undefined ? null : cursors.open<LatestPlace>(scope, cursor);
    await limits.pages(res, async () => {
      const { rows, next } = await read(after, limit);
      res.json({ items: rows.map(latestItem), next: next && cursors.seal(scope, next) });
    });
  };

export const listLatest: Operation = {
  id: 'listLatest',
  tag: 'latest',
  scope: 'read',
  targets: queryTargets,
  summary: 'The latest value of every sensor, page by page',
  description: `A sensor must match all filters. A page may be short, even empty, before the last one.
\`asof\` reads history: it takes longer, and knows values within retention.`,
  query: LATEST_QUERY,
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

/** Only for the document. `readSubscription` reads the query itself, because a name may contain a slash. */
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

export const EVENTS: Record<string, StreamEvent> = {
  snapshot: {
    schema: SCHEMAS.Snapshot,
    text: 'the current values; a large snapshot is sent as several events',
  },
  delta: {
    schema: SCHEMAS.Delta,
    text: 'the sensors that changed, each at most once, and the commit time of the oldest change',
  },
  stats: {
    schema: SCHEMAS.StatsEvent,
    text: 'the rates of the pipeline and the health of its processes, every second; `/pipeline/recent` has earlier rates',
  },
};

export const followLatest: Operation = {
  id: 'followLatest',
  tag: 'latest',
  scope: 'read',
  summary: 'Latest values as they change',
  description: `Server-sent events, for a browser's \`EventSource\`. Without \`device\` and \`sensor\` the stream follows the whole fleet.

An \`EventSource\` that reconnects sends \`Last-Event-ID\` and gets the changes since that event. If the process no longer knows that
event, it sends a snapshot again, so there is never a gap. If several events belong together, only the last one has an id. A device or sensor that does not
exist yet appears with its first value. A client that reads too slowly is disconnected and reconnects. A change that is lost on its way to
this process is sent within 30 s.`,
  sendsEvents: true,
  query: SUBSCRIPTION,
  answers: {
    200: {
      'text/event-stream': {
        text: 'Events. The description names the schemas of their data.',
        example:
          'id: 3f2a9c01d4b87e65-1\nevent: delta\ndata: {"items":[],"committed_at":null,"sent_at":"2026-11-21T00:00:00.000Z"}\n\n',
      },
    },
  },
  problems: ['bad_parameter', 'bad_id', 'busy'],
};

export const routes: Array<Route<RouteCore & { stream: Pick<Stream, 'handler'> }>> = [
  { method: 'get', path: '/api/v1/latest', operation: listLatest, handler: getLatest },
  { method: 'get', path: '/api/v1/stream', operation: followLatest, handler: ({ stream }) => stream.handler },
];
