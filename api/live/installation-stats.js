import { formatTime } from '../../common/times.js';
import { parseSnapshot, statsOf } from '../observability/process-stats.js';

/** @import { Stats, StatsSnapshot, ProcessStats } from '../observability/process-stats.js' */
/** @import { Live } from './index.js' */

/** A process tells how it is this often; one that has missed two does not count. In ms. */
const TOLD_EVERY_MS = 1000;
const COUNTS_FOR_MS = 3 * TOLD_EVERY_MS;

/** What was so is kept for five minutes. */
const MOST_RECENT = 300;

/** On a broker without rights anybody may pose as a process: this many, with names of this many characters, are heard. */
const MOST_PROCESSES = 1000;
const LONGEST_NAME = 1000;

/**
 * What all processes of the installation do together: each tells the others once a second, and one that serves readers adds
 * up what it has heard within the last three.
 *
 * @param {object} parts
 * @param {Pick<ProcessStats, 'snapshot'>} parts.processStats of this process
 * @param {Pick<Live, 'tellStats' | 'listenStats'>} parts.live
 * @param {boolean} parts.serves readers; else it only tells
 * @param {() => number} parts.clock epoch ms
 * @param {() => number} [parts.monotonic] ms of a clock that nobody sets
 * @param {number} [parts.everyMs]
 */
export function createInstallationStats(parts) {
  const {
    processStats,
    live,
    serves,
    clock,
    monotonic = () => performance.now(),
    everyMs = TOLD_EVERY_MS,
  } = parts;
  /** @type {Map<string, { snapshot: StatsSnapshot, heardAt: number }>} */
  const others = new Map();
  /** @type {Array<{ ts: string } & Stats>} the oldest first */
  const recent = [];
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let own = '';

  /** @param {string} name @param {Buffer} payload @returns {boolean} whether it is from one of us */
  function hear(name, payload) {
    if (name === own) return true;
    const snapshot = name.length <= LONGEST_NAME ? parseSnapshot(payload) : null;
    if (!snapshot || (others.size >= MOST_PROCESSES && !others.has(name))) return false;
    others.set(name, { snapshot, heardAt: monotonic() });
    return true;
  }

  function read() {
    const since = monotonic() - COUNTS_FOR_MS;
    for (const [name, { heardAt }] of others) if (heardAt < since) others.delete(name);
    return statsOf([processStats.snapshot(), ...[...others.values()].map(({ snapshot }) => snapshot)]);
  }

  function tick() {
    live.tellStats(own, JSON.stringify(processStats.snapshot()));
    if (serves && recent.push({ ts: formatTime(clock()), ...read() }) > MOST_RECENT) recent.shift();
  }

  return {
    /** What they do now. */
    read,

    /** What they did in the last five minutes, or since this process runs: once a second, the oldest first. */
    recent: () => recent,

    /** @param {string} name of this process, as no other has it */
    start(name) {
      own = name;
      if (serves) live.listenStats(hear);
      tick();
      timer = setInterval(tick, everyMs).unref();
    },

    stop: () => clearInterval(timer),
  };
}

/** @typedef {ReturnType<typeof createInstallationStats>} InstallationStats */
