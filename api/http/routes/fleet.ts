import type { RequestHandler } from 'express';
import { formatTime } from '../../../common/times.ts';
import type { InstallationStats } from '../../live/installation-stats.ts';
import { isSilent, sumOf } from '../../observability/index.ts';
import type { UnwatchedTime } from '../../observability/watched-time.ts';
import type { Tally } from '../../store/devices/index.ts';
import { json, type Operation } from '../contract/operation.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import {
  type BrokerAddress,
  fleetItem,
  nodeItem,
  optionalTime,
  presenceOf,
  processItem,
  streamItem,
} from '../items.ts';
import { cutRange, fields, readQuery } from '../parameters.ts';
import type { Route, RouteCore } from '../route.ts';

type FleetDeps = RouteCore & {
  stats: Pick<InstallationStats, 'recent'>;
  unwatchedTime: Pick<UnwatchedTime, 'read'>;
  mqtt: BrokerAddress;
  /** of each group of devices; see `RunningFeature` */
  streamedUntil: () => Promise<Array<number | null>>;
};

function getFleet({ store, context: { clock } }: RouteCore): RequestHandler {
  const fleet = createFleetCount({ tally: store.fleet.tally, groups: store.groups, clock });
  return async (req, res) => {
    readQuery(req, {});
    res.json(fleetItem(await fleet.read()));
  };
}

/** In ms. A request for an older answer waits for a new count. */
const MAX_AGE_MS = 10_000;

/** Age of an answer in ms from which a new count starts. The old answer is still served meanwhile, so a regular client never waits. */
const RECOUNT_MS = 5000;

/** The limit of listed types, and of sites. Those with the most sensors are listed. */
const MAX_TERMS = 1000;

export type SensorCount = { sensors: number; types: Map<string, number>; sites: Map<string, number> };

export interface FleetCount {
  devices: { online: number; offline: number; not_live: number };
  sensors: number;
  types: Map<string, number>;
  sites: Map<string, number>;
}

/**
 * One count serves all concurrent requests. A stored counter could become wrong. Each count reads four small columns of all devices, and
 * the sensors only of groups in which a device has changed sensors, and of one further group in rotation. A process that dies between its
 * two writes leaves a change without a mark, and the rotation finds it.
 */
export function createFleetCount({
  tally,
  groups,
  clock,
}: {
  tally: Tally;
  groups: number;
  clock: () => number;
}) {
  const counted: Array<{ mark: string; count: SensorCount }> = [];
  let rotation = 0;
  let startedAt = Number.NEGATIVE_INFINITY;
  let answer: FleetCount | null = null;
  let counting: Promise<FleetCount> | null = null;

  /** Adds the devices to `devices`. Returns a mark, which differs from the last one if sensors of the group have changed. */
  async function countDevices(group: number, devices: FleetCount['devices']): Promise<string> {
    let registered = 0;
    let changes = 0;
    for await (const page of tally.devices(group)) {
      const now = clock();
      for (const device of page) {
        devices[presenceOf(device, now)]++;
        registered++;
        changes = (Math.imul(changes, 31) + (device.sensorsAt % 2 ** 32)) | 0;
      }
    }
    return `${registered} ${changes}`;
  }

  async function countSensors(group: number): Promise<SensorCount> {
    const count: SensorCount = { sensors: 0, types: new Map(), sites: new Map() };
    for await (const page of tally.sensors(group)) {
      count.sensors += page.length;
      for (const { type, site } of page) {
        if (type !== null) add(count.types, type, 1);
        if (site !== null) add(count.sites, site, 1);
      }
    }
    return count;
  }

  async function count(): Promise<FleetCount> {
    const fleet: FleetCount = {
      devices: { online: 0, offline: 0, not_live: 0 },
      sensors: 0,
      types: new Map(),
      sites: new Map(),
    };
    for (let group = 0; group < groups; group++) {
      const mark = await countDevices(group, fleet.devices);
      if (counted[group]?.mark !== mark || group === rotation) {
        counted[group] = { mark, count: await countSensors(group) };
      }
    }
    rotation = (rotation + 1) % groups;
    for (const { count } of counted) {
      fleet.sensors += count.sensors;
      for (const [type, sensors] of count.types) add(fleet.types, type, sensors);
      for (const [site, sensors] of count.sites) add(fleet.sites, site, sensors);
    }
    return { ...fleet, types: largest(fleet.types), sites: largest(fleet.sites) };
  }

  async function countNow() {
    const now = clock();
    try {
      answer = await count();
      startedAt = now;
      return answer;
    } finally {
      counting = null;
    }
  }

  return {
    /** @throws `unavailable` */
    async read(): Promise<FleetCount> {
      // Use the absolute value, so that an answer does not seem younger after the clock was set back.
      const age = Math.abs(clock() - startedAt);
      if (age >= RECOUNT_MS && !counting) {
        counting = countNow();
        // The count may fail while no request waits for it. The next request starts another count.
        counting.catch(() => {});
      }
      if (answer && age < MAX_AGE_MS) return answer;
      return counting as Promise<FleetCount>;
    },
  };
}

const add = (counts: Map<string, number>, term: string, more: number) =>
  counts.set(term, (counts.get(term) ?? 0) + more);

const largest = (counts: Map<string, number>) =>
  new Map([...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_TERMS));

export const readFleet: Operation = {
  id: 'readFleet',
  tag: 'devices',
  scope: 'read',
  summary: 'Counts of devices and sensors',
  description:
    'The counts are at most 10 s old. `by_type` and `by_site` leave out sensors without a type or a site, and contain the 1,000 types or sites with most sensors.',
  answers: { 200: json(SCHEMAS.Fleet) },
  problems: ['bad_parameter', 'unavailable'],
};

export const readPipeline: Operation = {
  id: 'readPipeline',
  tag: 'operation',
  scope: 'read',
  summary: 'The processes of the installation, the database and the broker',
  description: `Each process reports its state and the rates of the last five seconds every 10 s. A process that stops removes its row. A process
that died is \`stale\` after 30 s and disappears after an hour. \`database\` is the view of the process that answers. \`broker\` is the check of one
process, of one with a failed check if there is one. History before \`packed_until\` is packed. \`stream_out\` is null unless a process streams commits to another system. \`ingest\` has what a new device needs.`,
  answers: { 200: json(SCHEMAS.Pipeline) },
  problems: ['bad_parameter', 'unavailable'],
};

export const readRecentStats: Operation = {
  id: 'readRecentStats',
  tag: 'operation',
  scope: 'read',
  summary: 'The rates of the pipeline in the last five minutes',
  description:
    'The rates of the event `stats` of `/stream`, once a second, oldest first. The process that answers has collected them since its start.',
  answers: { 200: json(SCHEMAS.RecentStats) },
  problems: ['bad_parameter'],
};

const UNWATCHED_QUERY = { from: fields.from, to: fields.to };

export const readUnwatchedTime: Operation = {
  id: 'readUnwatchedTime',
  tag: 'operation',
  scope: 'read',
  summary: 'The time in which no process watched, oldest first',
  description: `A process watches while it ingests: it is connected to its broker, the database takes its heartbeats, and its clock is right. In
an item no process did. So nobody knows whether a device was online then. The record begins at \`since\`, and the time before it is no item.
An item that goes on ends now.`,
  query: UNWATCHED_QUERY,
  answers: { 200: json(SCHEMAS.UnwatchedTime) },
  problems: ['bad_parameter', 'bad_range', 'unavailable'],
};

export const getUnwatchedTime =
  (deps: FleetDeps): RequestHandler =>
  async (req, res) => {
    const range = cutRange(readQuery(req, UNWATCHED_QUERY), deps.context);
    // Several years of a large installation are many rows. So the request counts toward the limit of pages.
    await deps.http.limits.pages(res, async () => {
      const { since, spans, leftOutMs } = await deps.unwatchedTime.read(range);
      res.json({
        since: optionalTime(since),
        items: spans.map(({ from, to }) => ({ from: formatTime(from), to: formatTime(to) })),
        left_out_ms: leftOutMs,
      });
    });
  };

export const getRecentStats =
  ({ stats }: FleetDeps): RequestHandler =>
  (req, res) => {
    readQuery(req, {});
    res.json({ items: stats.recent() });
  };

export const getPipeline =
  ({ store, context: { clock, config }, mqtt, streamedUntil }: FleetDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const all = Array.from({ length: store.groups }, (_, group) => store.packProgress.read(group));
    const [rows, streamed, ...progress] = await Promise.all([store.processes.all(), streamedUntil(), ...all]);
    const now = clock();
    const processes = rows.map((row) => processItem(row, now));
    const brokers = processes.flatMap(({ broker, stale }) => (broker && !stale ? [broker] : []));
    res.json({
      processes,
      measurements: sumOf(processes.filter(({ stale }) => !stale).map(({ measurements }) => measurements)),
      database: { nodes: store.health.nodes().map(nodeItem) },
      broker: brokers.find(({ ok }) => !ok) ?? brokers[0] ?? null,
      packed_until: formatTime(Math.min(...progress.map(({ packedUntil }) => packedUntil))),
      stream_out: streamItem(
        rows.filter((row) => !isSilent(row, now)),
        streamed,
      ),
      ingest: { auto_register: config.ingest.autoRegister, mqtt: mqtt() },
    });
  };

export const routes: Array<Route<FleetDeps>> = [
  { method: 'get', path: '/api/v1/fleet', operation: readFleet, handler: getFleet },
  { method: 'get', path: '/api/v1/pipeline', operation: readPipeline, handler: getPipeline },
  { method: 'get', path: '/api/v1/pipeline/recent', operation: readRecentStats, handler: getRecentStats },
  {
    method: 'get',
    path: '/api/v1/pipeline/unwatched',
    operation: readUnwatchedTime,
    handler: getUnwatchedTime,
  },
];
