import { formatTime } from '../../../common/times.js';
import { isSilent, sumOf } from '../../observability/index.js';
import { json } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas/index.js';
import { fleetItem, nodeItem, optionalTime, presenceOf, processItem, streamItem } from '../items.js';
import { cutRange, fields, readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Tally } from '../../store/devices/index.js' */
/** @import { RouteDeps } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */
/** @import { WaitingLimit } from '../long-requests.js' */

/**
 * `GET /fleet`: returns the numbers of devices and sensors.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export function getFleet({ store, groups, clock }) {
  const fleet = createFleetCount({ tally: store.fleet.tally, groups, clock });
  return async (req, res) => {
    readQuery(req, {});
    res.json(fleetItem(await fleet.read()));
  };
}

/** Maximum age of an answer in ms. A request for an older answer waits for a new count. */
const MAX_AGE_MS = 10_000;

/** Age of an answer in ms from which a new count starts. The old answer is still served meanwhile, so a regular client never waits. */
const RECOUNT_MS = 5000;

/** Limit of types, and of sites, in an answer. The types and sites with the most sensors are listed. */
const MAX_TERMS = 1000;

/** @typedef {{ sensors: number, types: Map<string, number>, sites: Map<string, number> }} SensorCount */

/**
 * @typedef {object} FleetCount
 * @property {{ online: number, offline: number, not_live: number }} devices number of devices by their state
 * @property {number} sensors
 * @property {Map<string, number>} types number of sensors by type
 * @property {Map<string, number>} sites number of sensors by site
 */

/**
 * Counts all devices and sensors, once for all concurrent requests. It uses no stored counter, which could become wrong. Each
 * count reads four small columns of all devices. It reads the sensors only in groups in which a device has changed sensors. Each
 * count also reads the sensors of one further group in rotation. A process that dies between its two writes leaves a change
 * without a mark, and the rotation finds it.
 *
 * @param {object} deps
 * @param {Tally} deps.tally
 * @param {number} deps.groups number of groups of devices (`LATEST_GROUPS`)
 * @param {() => number} deps.clock epoch ms
 */
export function createFleetCount({ tally, groups, clock }) {
  /** @type {Array<{ mark: string, count: SensorCount }>} the last count of sensors, by group */
  const counted = [];
  let rotation = 0;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** @type {FleetCount | null} */
  let answer = null;
  /** @type {Promise<FleetCount> | null} */
  let counting = null;

  /**
   * Counts the devices of a group.
   *
   * @param {number} group
   * @param {FleetCount['devices']} devices counts to which the devices are added
   * @returns {Promise<string>} a mark, which differs from the last mark if sensors of the group have changed
   */
  async function countDevices(group, devices) {
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

  /** @param {number} group @returns {Promise<SensorCount>} */
  async function countSensors(group) {
    /** @type {SensorCount} */
    const count = { sensors: 0, types: new Map(), sites: new Map() };
    for await (const page of tally.sensors(group)) {
      count.sensors += page.length;
      for (const { type, site } of page) {
        if (type !== null) add(count.types, type, 1);
        if (site !== null) add(count.sites, site, 1);
      }
    }
    return count;
  }

  /** @returns {Promise<FleetCount>} */
  async function count() {
    /** @type {FleetCount} */
    const fleet = {
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
    /**
     * @returns {Promise<FleetCount>}
     * @throws {MillraceError} `unavailable`
     */
    async read() {
      // Use the absolute value, so that an answer does not seem younger after the clock was set back.
      const age = Math.abs(clock() - startedAt);
      if (age >= RECOUNT_MS && !counting) {
        counting = countNow();
        // The count may fail while no request waits for it. The next request starts another count.
        counting.catch(() => {});
      }
      if (answer && age < MAX_AGE_MS) return answer;
      return /** @type {Promise<FleetCount>} */ (counting);
    },
  };
}

/** @param {Map<string, number>} counts @param {string} term @param {number} more */
const add = (counts, term, more) => counts.set(term, (counts.get(term) ?? 0) + more);

/** @param {Map<string, number>} counts */
const largest = (counts) => new Map([...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_TERMS));

/** @type {Operation} */
export const readFleet = {
  id: 'readFleet',
  tag: 'devices',
  scope: 'read',
  summary: 'Counts of devices and sensors',
  description:
    'The counts are at most 10 s old. `by_type` and `by_site` leave out sensors without a type or a site, and contain the 1,000 types or sites with most sensors.',
  answers: { 200: json(SCHEMAS.Fleet) },
  problems: ['bad_parameter', 'unavailable'],
};

/** @type {Operation} */
export const readPipeline = {
  id: 'readPipeline',
  tag: 'operation',
  scope: 'read',
  summary: 'The processes of the installation, the database and the broker',
  description: `Each process reports its state and the rates of the last five seconds every 10 s. A process that stops removes its row. A process
that died is \`stale\` after 30 s and disappears after an hour. \`database\` is the view of the process that answers. \`broker\` is the check of one
process, of one with a failed check if there is one. History before \`packed_until\` is packed. \`stream_out\` is null unless a process streams to Kafka. \`ingest\` has what a new device needs.`,
  answers: { 200: json(SCHEMAS.Pipeline) },
  problems: ['bad_parameter', 'unavailable'],
};

/** @type {Operation} */
export const readRecentStats = {
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

/** @type {Operation} */
export const readUnwatchedTime = {
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

/**
 * `GET /pipeline/unwatched`: lists the periods in which no process received samples and evaluated alarms.
 *
 * @param {RouteDeps & { limits: { pages: WaitingLimit } }} deps
 * @returns {RequestHandler}
 */
export const getUnwatchedTime = (deps) => async (req, res) => {
  const range = cutRange(readQuery(req, UNWATCHED_QUERY), deps);
  // Several years of a large installation are many rows. So the request counts toward the limit of pages.
  await deps.limits.pages(res, async () => {
    const { since, spans, leftOutMs } = await deps.unwatchedTime.read(range);
    res.json({
      since: optionalTime(since),
      items: spans.map(({ from, to }) => ({ from: formatTime(from), to: formatTime(to) })),
      left_out_ms: leftOutMs,
    });
  });
};

/**
 * `GET /pipeline/recent`: returns the rates of the last five minutes.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getRecentStats =
  ({ stats }) =>
  (req, res) => {
    readQuery(req, {});
    res.json({ items: stats.recent() });
  };

/**
 * `GET /pipeline`: returns the state of the installation's processes, the database and the broker.
 *
 * @param {RouteDeps} deps
 * @returns {RequestHandler}
 */
export const getPipeline =
  ({ store, groups, clock, autoRegister, mqtt }) =>
  async (req, res) => {
    readQuery(req, {});
    const all = Array.from({ length: groups }, (_, group) => store.packProgress.read(group));
    const streams = Array.from({ length: groups }, (_, group) => store.streaming.streamedUntil(group));
    const [rows, streamed, ...progress] = await Promise.all([
      store.processes.all(),
      Promise.all(streams),
      ...all,
    ]);
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
      ingest: { auto_register: autoRegister, mqtt: mqtt() },
    });
  };
