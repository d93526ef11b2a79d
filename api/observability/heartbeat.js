import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { ProcessRow, ProcessStore } from '../store/processes.js' */
/** @import { Context } from './context.js' */
/** @import { Stats } from './process-stats.js' */
/** @import { Check } from './readiness.js' */

/** Time limit for removing the row when the process ends, in ms. The database may be away. */
const REMOVE_MS = 1000;

/** A process is silent after three missed heartbeats, in ms. */
const SILENT_AFTER_MS = 30_000;

/**
 * The stats in a heartbeat, as `GET /pipeline` shows them. `shares`: the process shares the messages of an external broker.
 *
 * @typedef {Stats & { broker: Check | null, shares: boolean }} Beat
 */

/**
 * Writes the heartbeat of this process. A process that stops removes its row. The row of a process that died expires after an hour.
 *
 * @param {Pick<Context, 'clock' | 'logger'>} context
 * @param {object} deps
 * @param {ProcessStore} deps.store
 * @param {{ clientId: string, role: string, version: string }} deps.process
 * @param {() => Beat} deps.read
 * @param {number} deps.everyMs
 */
export function createHeartbeat({ clock, logger }, { store, process: own, read, everyMs }) {
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
    // Skip a heartbeat while the previous one is being written.
    if (beats) return;
    beats = true;
    beating = write();
  }

  return {
    /** @returns {Promise<void>} resolves after the first heartbeat */
    start() {
      timer = setInterval(beat, everyMs);
      beat();
      return beating;
    },

    async stop() {
      if (!timer) return;
      clearInterval(timer);
      const remove = async () => {
        await beating;
        await store.remove(own.clientId);
      };
      // If this fails, the row expires.
      await Promise.race([remove().catch(() => {}), sleep(REMOVE_MS, undefined, { ref: false })]);
    },
  };
}

/** @typedef {ReturnType<typeof createHeartbeat>} Heartbeat */

/**
 * The name of a process: its client id at an external broker, which is unique, or else its host and port.
 *
 * @param {Pick<Config, 'role' | 'mqtt'>} config
 * @param {number} httpPort
 */
export const processName = ({ role, mqtt }, httpPort) =>
  mqtt.url && role !== 'http' ? mqtt.clientId : `${hostname()}:${httpPort}`;

/** @param {Pick<ProcessRow, 'seenAt'>} row @param {number} now epoch ms */
export const isSilent = ({ seenAt }, now) => now - seenAt > SILENT_AFTER_MS;

/**
 * Counts the processes of the installation by their heartbeats, for the metrics. A process that died counts as silent until its row
 * expires. Meanwhile its session at the broker keeps a share of the messages, which nobody reads.
 *
 * @param {Pick<Context, 'clock' | 'logger' | 'metrics'>} context
 * @param {object} deps
 * @param {Pick<ProcessStore, 'all'>} deps.store
 * @param {boolean} deps.shares whether the processes share the messages of an external broker
 * @param {number} deps.everyMs
 */
export function createProcessWatch({ clock, logger, metrics }, { store, shares, everyMs }) {
  let processes = { running: 0, silent: 0 };
  let members = { online: 0, offline: 0 };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  async function readHeartbeats() {
    try {
      const rows = await store.all();
      const now = clock();
      const silent = rows.filter((row) => isSilent(row, now)).length;
      processes = { running: rows.length - silent, silent };
      const sharing = shares ? rows.filter(isMember) : [];
      const online = sharing.filter((row) => !isSilent(row, now) && isConnected(row)).length;
      members = { online, offline: sharing.length - online };
    } catch (error) {
      // The pipeline logs that the database is away.
      logger.debug({ reason: String(error) }, 'the heartbeats could not be read');
    }
  }

  metrics.states(
    'iot_processes',
    'Processes of the installation by their heartbeats: running, silent (no heartbeat for 30 s)',
    () => processes,
  );
  metrics.states(
    'iot_share_group_members',
    'Members of the share group of an external broker: online, offline (silent, or not connected)',
    () => members,
  );

  return {
    /** @returns {Promise<void>} resolves after the first read */
    start() {
      timer = setInterval(() => void readHeartbeats(), everyMs).unref();
      return readHeartbeats();
    },
    stop: () => clearInterval(timer),
  };
}

/** @param {ProcessRow} row @returns {Beat} */
const beatOf = ({ stats }) => JSON.parse(stats);

/** @param {ProcessRow} row @returns {boolean} whether the process has a session at the external broker */
const isMember = (row) => row.role !== 'http' && beatOf(row).shares;

/** @param {ProcessRow} row */
const isConnected = (row) => beatOf(row).broker?.ok === true;
