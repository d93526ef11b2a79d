import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { ProcessRow, ProcessStore } from '../store/processes.js' */
/** @import { Metrics } from './metrics.js' */
/** @import { Stats } from './process-stats.js' */
/** @import { Check } from './readiness.js' */

/** Taking the row away gets this long when the process ends, in ms: nobody waits for a database that is away. */
const FAREWELL_MS = 1000;

/** A process says every 10 s that it runs; one that has missed three times may have died. In ms. */
const SILENT_AFTER_MS = 30_000;

/**
 * What a process says of itself, as `GET /pipeline` shows it; and whether it `shares` the messages of an external broker.
 *
 * @typedef {Stats & { broker: Check | null, shares: boolean }} Beat
 */

/**
 * Tells the others that this process runs, and how it is. One that ends in good order takes its row away; the row of one
 * that died grows old, and is forgotten after an hour.
 *
 * @param {object} parts
 * @param {ProcessStore} parts.store
 * @param {{ clientId: string, role: string, version: string }} parts.process
 * @param {() => Beat} parts.read
 * @param {number} parts.everyMs
 * @param {() => number} parts.clock epoch ms
 * @param {Logger} parts.logger
 */
export function createHeartbeat({ store, process: own, read, everyMs, clock, logger }) {
  const startedAt = clock();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<void>} */
  let beating = Promise.resolve();
  let beats = false;

  async function write() {
    try {
      await store.write({ ...own, startedAt, seenAt: clock(), stats: JSON.stringify(read()) });
    } catch (error) {
      logger.warn({ reason: String(error) }, 'the heartbeat could not be written');
    } finally {
      beats = false;
    }
  }

  function beat() {
    // One that takes longer than the time between two is not overtaken.
    if (beats) return;
    beats = true;
    beating = write();
  }

  return {
    /** @returns {Promise<void>} settles after the first beat */
    start() {
      timer = setInterval(beat, everyMs);
      beat();
      return beating;
    },

    async stop() {
      if (!timer) return;
      clearInterval(timer);
      const farewell = async () => {
        await beating;
        await store.remove(own.clientId);
      };
      // Its row grows old where it cannot be taken away.
      await Promise.race([farewell().catch(() => {}), sleep(FAREWELL_MS, undefined, { ref: false })]);
    },
  };
}

/** @typedef {ReturnType<typeof createHeartbeat>} Heartbeat */

/**
 * What a process is called: by its session at an external broker where it has one, which no other process shares; else by where
 * it serves.
 *
 * @param {Pick<Config, 'role' | 'mqtt'>} config
 * @param {number} httpPort
 */
export const processName = ({ role, mqtt }, httpPort) =>
  mqtt.url && role !== 'http' ? mqtt.clientId : `${hostname()}:${httpPort}`;

/** @param {Pick<ProcessRow, 'seenAt'>} row @param {number} now epoch ms */
export const isSilent = ({ seenAt }, now) => now - seenAt > SILENT_AFTER_MS;

/**
 * Looks, every now and then, which processes of the installation run, by their heartbeats. A process that ended in good
 * order is forgotten at once, one that died after an hour; until then it counts as silent, and its session at the broker
 * keeps a share of the messages that nobody takes.
 *
 * @param {object} parts
 * @param {Pick<ProcessStore, 'all'>} parts.store
 * @param {boolean} parts.shares whether this installation has an external broker, whose messages those that ingest share
 * @param {number} parts.everyMs
 * @param {() => number} parts.clock epoch ms
 * @param {Metrics} parts.metrics
 * @param {Logger} parts.logger
 */
export function createProcessWatch({ store, shares, everyMs, clock, metrics, logger }) {
  let processes = { running: 0, silent: 0 };
  let members = { online: 0, offline: 0 };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  async function look() {
    try {
      const rows = await store.all();
      const now = clock();
      const silent = rows.filter((row) => isSilent(row, now)).length;
      processes = { running: rows.length - silent, silent };
      const sharing = shares ? rows.filter(isMember) : [];
      const online = sharing.filter((row) => !isSilent(row, now) && isConnected(row)).length;
      members = { online, offline: sharing.length - online };
    } catch (error) {
      // A database that is away says nothing of processes; that it is away is told elsewhere.
      logger.debug({ reason: String(error) }, 'the heartbeats could not be read');
    }
  }

  metrics.states(
    'iot_processes',
    'Processes of the installation by their heartbeats: running, silent for half a minute',
    () => processes,
  );
  metrics.states(
    'iot_share_group_members',
    'Those that share the messages of an external broker: online, offline (silent, or not connected to it)',
    () => members,
  );

  return {
    /** @returns {Promise<void>} settles after the first look */
    start() {
      timer = setInterval(() => void look(), everyMs).unref();
      return look();
    },
    stop: () => clearInterval(timer),
  };
}

/** @param {ProcessRow} row @returns {Beat} */
const beatOf = ({ stats }) => JSON.parse(stats);

/**
 * One with a broker of its own leaves no session elsewhere, however it ended.
 *
 * @param {ProcessRow} row
 */
const isMember = (row) => row.role !== 'http' && beatOf(row).shares;

/** @param {ProcessRow} row */
const isConnected = (row) => beatOf(row).broker?.ok === true;
