import { formatTime } from '../../../common/times.js';
import { json } from '../contract/operation.js';
import { SCHEMAS } from '../contract/schemas.js';
import { fleetItem, isOnline, nodeItem, processItem } from '../items.js';
import { readQuery } from '../parameters.js';

/** @import { RequestHandler } from 'express' */
/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Tally } from '../../store/devices/index.js' */
/** @import { RouteParts } from '../api.js' */
/** @import { Operation } from '../contract/operation.js' */

/**
 * `GET /fleet`: how many there are.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export function getFleet({ store, groups, clock }) {
  const fleet = createFleetCount({ tally: store.fleet.tally, groups, clock });
  return async (req, res) => {
    readQuery(req, {});
    res.json(fleetItem(await fleet.read()));
  };
}

/** No answer is older than this, in ms, unless counting takes longer. */
const FRESH_MS = 10_000;

/** An answer this old is counted anew while it is still given, so that whoever asks regularly never waits. In ms. */
const AHEAD_MS = 5000;

/** Types, and sites, that are told of: those with most sensors. */
const MOST_TERMS = 1000;

/** @typedef {{ sensors: number, types: Map<string, number>, sites: Map<string, number> }} SensorCount */

/**
 * @typedef {object} FleetCount
 * @property {{ online: number, offline: number }} devices
 * @property {number} sensors
 * @property {Map<string, number>} types sensors of each
 * @property {Map<string, number>} sites sensors of each
 */

/**
 * Counts the fleet, for all who ask together. Nothing is kept that could go wrong: each count reads all devices, four small
 * columns of each, and the sensors of those groups of which a device says that its sensors have changed. One group
 * more is counted in turn, whatever its devices say: a process that ended between the two writes has not told.
 *
 * @param {object} parts
 * @param {Tally} parts.tally
 * @param {number} parts.groups `LATEST_GROUPS`
 * @param {() => number} parts.clock epoch ms
 */
export function createFleetCount({ tally, groups, clock }) {
  /** @type {Array<{ mark: string, count: SensorCount }>} by group */
  const known = [];
  let inTurn = 0;
  let begunAt = Number.NEGATIVE_INFINITY;
  /** @type {FleetCount | null} */
  let answer = null;
  /** @type {Promise<FleetCount> | null} */
  let counting = null;

  /** @param {number} group @param {FleetCount['devices']} devices are added to @returns {Promise<string>} another one when its sensors have changed */
  async function countDevices(group, devices) {
    let registered = 0;
    let changes = 0;
    for await (const page of tally.devices(group)) {
      const now = clock();
      for (const device of page) {
        devices[isOnline(device, now) ? 'online' : 'offline']++;
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
    const fleet = { devices: { online: 0, offline: 0 }, sensors: 0, types: new Map(), sites: new Map() };
    for (let group = 0; group < groups; group++) {
      const mark = await countDevices(group, fleet.devices);
      if (known[group]?.mark !== mark || group === inTurn) {
        known[group] = { mark, count: await countSensors(group) };
      }
    }
    inTurn = (inTurn + 1) % groups;
    for (const { count } of known) {
      fleet.sensors += count.sensors;
      for (const [type, sensors] of count.types) add(fleet.types, type, sensors);
      for (const [site, sensors] of count.sites) add(fleet.sites, site, sensors);
    }
    return { ...fleet, types: largest(fleet.types), sites: largest(fleet.sites) };
  }

  async function countNow() {
    const began = clock();
    try {
      answer = await count();
      begunAt = began;
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
      // A clock that was set back does not make an answer younger.
      const age = Math.abs(clock() - begunAt);
      if (age >= AHEAD_MS && !counting) {
        counting = countNow();
        // It may fail while nobody waits for it; whoever asks next tries again.
        counting.catch(() => {});
      }
      if (answer && age < FRESH_MS) return answer;
      return /** @type {Promise<FleetCount>} */ (counting);
    },
  };
}

/** @param {Map<string, number>} counts @param {string} term @param {number} more */
const add = (counts, term, more) => counts.set(term, (counts.get(term) ?? 0) + more);

/** @param {Map<string, number>} counts */
const largest = (counts) => new Map([...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_TERMS));

/** @type {Operation} */
export const readFleet = {
  id: 'readFleet',
  tag: 'devices',
  scope: 'read',
  summary: 'How many devices and sensors there are',
  description:
    'Counted at most 10 s ago. Sensors without a type, or a site, are in none of these; of more than 1,000 types, or sites, those with most sensors are told.',
  answers: { 200: json(SCHEMAS.Fleet) },
  problems: ['bad_parameter', 'unavailable'],
};

/** @type {Operation} */
export const readPipeline = {
  id: 'readPipeline',
  tag: 'operation',
  scope: 'read',
  summary: 'What runs, and how it is',
  description: `Each process tells every 10 s how it is, and what it did in the five seconds before. One that ends takes its row away; one that
died is \`stale\` after 30 s, and forgotten after an hour. \`database\` is as this process sees it; \`broker\` what one of the
processes says of it, one that is in trouble before others. History before \`packed_until\` is packed.`,
  answers: { 200: json(SCHEMAS.Pipeline) },
  problems: ['bad_parameter', 'unavailable'],
};

/** @type {Operation} */
export const readRecentStats = {
  id: 'readRecentStats',
  tag: 'operation',
  scope: 'read',
  summary: 'What the pipeline did in the last five minutes',
  description:
    'The `stats` of `/stream`, one a second, the oldest first, by what the process that answers has heard since it started.',
  answers: { 200: json(SCHEMAS.RecentStats) },
  problems: ['bad_parameter'],
};

/**
 * `GET /pipeline/recent`: what it did in the last minutes.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getRecentStats =
  ({ stats }) =>
  (req, res) => {
    readQuery(req, {});
    res.json({ items: stats.recent() });
  };

/**
 * `GET /pipeline`: what runs, and how it is.
 *
 * @param {RouteParts} parts
 * @returns {RequestHandler}
 */
export const getPipeline =
  ({ store, groups, clock }) =>
  async (req, res) => {
    readQuery(req, {});
    const all = Array.from({ length: groups }, (_, group) => store.packProgress.read(group));
    const [rows, ...progress] = await Promise.all([store.processes.all(), ...all]);
    const now = clock();
    const processes = rows.map((row) => processItem(row, now));
    const brokers = processes.flatMap(({ broker, stale }) => (broker && !stale ? [broker] : []));
    res.json({
      processes,
      database: { nodes: store.nodes().map(nodeItem) },
      broker: brokers.find(({ ok }) => !ok) ?? brokers[0] ?? null,
      packed_until: formatTime(Math.min(...progress.map(({ packedUntil }) => packedUntil))),
    });
  };
