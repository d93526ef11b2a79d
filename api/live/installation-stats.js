import { formatTime } from '../../common/times.js';
import { parseSnapshot, statsOf } from '../observability/process-stats.js';

/** @import { Stats, StatsSnapshot, ProcessStats } from '../observability/process-stats.js' */
/** @import { Live } from './index.js' */

/** A process publishes its statistics this often, in ms. A process that missed two snapshots no longer counts. */
const PUBLISH_EVERY_MS = 1000;
const COUNTS_FOR_MS = 3 * PUBLISH_EVERY_MS;

/** Five minutes of statistics are kept. */
const MAX_RECENT = 300;

/** On a broker without access control any client may pose as a process. These limits bound the processes and their names. */
const MAX_PROCESSES = 1000;
const MAX_NAME_LENGTH = 1000;

/**
 * The statistics of all processes of the installation together. Each process publishes its snapshot once a second. A process that
 * serves readers sums the snapshots of the last three seconds.
 *
 * @param {object} deps
 * @param {Pick<ProcessStats, 'snapshot'>} deps.processStats of this process
 * @param {Pick<Live, 'publishStats' | 'onStats'>} deps.live
 * @param {boolean} deps.serves whether this process serves readers; otherwise it only publishes
 * @param {() => number} deps.clock epoch ms
 * @param {() => number} [deps.monotonic] ms of a monotonic clock
 * @param {number} [deps.everyMs]
 */
export function createInstallationStats(deps) {
  const {
    processStats,
    live,
    serves,
    clock,
    monotonic = () => performance.now(),
    everyMs = PUBLISH_EVERY_MS,
  } = deps;
  /** @type {Map<string, { snapshot: StatsSnapshot, receivedAt: number }>} */
  const others = new Map();
  /** The oldest first. @type {Array<{ ts: string } & Stats>} */
  const recent = [];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let own = '';

  /** @param {string} name @param {Buffer} payload @returns {boolean} whether it is a valid snapshot of a process */
  function receive(name, payload) {
    if (name === own) return true;
    const snapshot = name.length <= MAX_NAME_LENGTH ? parseSnapshot(payload) : null;
    if (!snapshot || (others.size >= MAX_PROCESSES && !others.has(name))) return false;
    others.set(name, { snapshot, receivedAt: monotonic() });
    return true;
  }

  function read() {
    const since = monotonic() - COUNTS_FOR_MS;
    for (const [name, { receivedAt }] of others) if (receivedAt < since) others.delete(name);
    return statsOf([processStats.snapshot(), ...[...others.values()].map(({ snapshot }) => snapshot)]);
  }

  function tick() {
    live.publishStats(own, JSON.stringify(processStats.snapshot()));
    if (serves && recent.push({ ts: formatTime(clock()), ...read() }) > MAX_RECENT) recent.shift();
  }

  return {
    /** The statistics of now. */
    read,

    /** The statistics of the last five minutes, or since the start of this process: one a second, the oldest first. */
    recent: () => recent,

    /** @param {string} name of this process, unique in the installation */
    start(name) {
      own = name;
      if (serves) live.onStats(receive);
      tick();
      timer = setInterval(tick, everyMs).unref();
    },

    stop: () => clearInterval(timer),
  };
}

/** @typedef {ReturnType<typeof createInstallationStats>} InstallationStats */
