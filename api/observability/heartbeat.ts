import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { ProcessRow, ProcessStore } from '../store/processes.js' */
/** @import { Context } from './index.js' */
/** @import { MeasurementCounts, Stats } from './process-stats.js' */
/** @import { Check } from './readiness.js' */
/** @import { WatchedTime } from './watched-time.js' */

/** Time limit in ms for removing the row of this process at its end. The database may be unavailable then. */
const REMOVE_MS = 1000;

/** Time in ms without a heartbeat after which a process counts as silent: three missed heartbeats. */
const SILENT_AFTER_MS = 30_000;

/**
 * The state of streaming out in a heartbeat. `queue_bytes` and `lag_ms` are the bytes and the age of the records that wait for
 * Kafka.
 *
 * @typedef {{ ok: boolean, lag_ms: number, queue_bytes: number, queue_limit: number }} StreamBeat
 */

/**
 * The stats in a heartbeat, as `GET /pipeline` shows them.
 *
 * - `shares`: whether the process shares the messages of an external broker
 * - `measurements`: heartbeats of older versions lack it
 * - `stream`: null or missing if nothing is streamed out
 *
 * @typedef {Stats & { measurements?: MeasurementCounts, broker: Check | null, shares: boolean, stream?: StreamBeat | null }} Beat
 */

/**
 * Writes the heartbeat of this process periodically, and extends its watched time. A process that stops removes its row. If a
 * process crashes, its row expires after an hour.
 */
export class Heartbeat {
  #clock;
  #logger;
  #store;
  #own;
  #watchedTime;
  #read;
  #everyMs;
  #clientId = '';
  #startedAt = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {Promise<void>} */
  #beating = Promise.resolve();
  #beats = false;

  /**
   * @param {Pick<Context, 'clock' | 'logger'>} context
   * @param {object} deps
   * @param {ProcessStore} deps.store
   * @param {{ role: string, version: string }} deps.process
   * @param {Pick<WatchedTime, 'extend'> | null} deps.watchedTime null: this process does not watch
   * @param {() => Beat} deps.read
   * @param {number} deps.everyMs
   */
  constructor({ clock, logger }, { store, process: own, watchedTime, read, everyMs }) {
    this.#clock = clock;
    this.#logger = logger;
    this.#store = store;
    this.#own = own;
    this.#watchedTime = watchedTime;
    this.#read = read;
    this.#everyMs = everyMs;
  }

  /**
   * Writes a heartbeat now and periodically.
   *
   * @param {string} clientId client id or name of this process
   * @returns {Promise<void>} resolves after the first heartbeat
   */
  start(clientId) {
    this.#clientId = clientId;
    this.#startedAt = this.#clock();
    this.#timer = setInterval(() => this.#beat(), this.#everyMs);
    this.#beat();
    return this.#beating;
  }

  /** Ends the heartbeats, and removes the row. */
  async stop() {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    const remove = async () => {
      await this.#beating;
      await this.#store.remove(this.#clientId);
    };
    // If the removal fails, the row expires later.
    await Promise.race([remove().catch(() => {}), sleep(REMOVE_MS, undefined, { ref: false })]);
  }

  async #write() {
    const seenAt = this.#clock();
    try {
      await this.#store.write({
        ...this.#own,
        clientId: this.#clientId,
        startedAt: this.#startedAt,
        seenAt,
        stats: JSON.stringify(this.#read()),
      });
      await this.#watchedTime?.extend(this.#clientId, seenAt);
    } catch (error) {
      this.#logger.warn({ reason: String(error) }, 'the heartbeat could not be written');
    } finally {
      this.#beats = false;
    }
  }

  #beat() {
    // Skip a heartbeat while the previous one is being written.
    if (this.#beats) return;
    this.#beats = true;
    this.#beating = this.#write();
  }
}

/**
 * Returns the name of a process. At an external broker, the name is the client id, which is unique. Otherwise it is host and
 * port.
 *
 * @param {Pick<Config, 'role' | 'mqtt'>} config
 * @param {number} httpPort
 */
export const processName = ({ role, mqtt }, httpPort) =>
  mqtt.url && role !== 'http' ? mqtt.clientId : `${hostname()}:${httpPort}`;

/** @param {Pick<ProcessRow, 'seenAt'>} row @param {number} now epoch ms */
export const isSilent = ({ seenAt }, now) => now - seenAt > SILENT_AFTER_MS;

/**
 * Counts the processes of the installation by their heartbeats, for the metrics. A process that crashed counts as silent until
 * its row expires. Until then the broker may still assign messages to the session of the crashed process, and no process reads
 * these messages.
 */
export class ProcessWatch {
  #clock;
  #logger;
  #store;
  #shares;
  #everyMs;
  #processes = { running: 0, silent: 0 };
  #members = { online: 0, offline: 0 };
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {Pick<Context, 'clock' | 'logger' | 'metrics'>} context
   * @param {object} deps
   * @param {Pick<ProcessStore, 'all'>} deps.store
   * @param {boolean} deps.shares whether the processes share the messages of an external broker
   * @param {number} deps.everyMs
   */
  constructor({ clock, logger, metrics }, { store, shares, everyMs }) {
    this.#clock = clock;
    this.#logger = logger;
    this.#store = store;
    this.#shares = shares;
    this.#everyMs = everyMs;
    metrics.states(
      'iot_processes',
      'Processes of the installation by their heartbeats: running, silent (no heartbeat for 30 s)',
      () => this.#processes,
    );
    metrics.states(
      'iot_share_group_members',
      'Members of the share group of an external broker: online, offline (silent, or not connected)',
      () => this.#members,
    );
  }

  /** Reads the heartbeats of all processes now and periodically. @returns {Promise<void>} resolves after the first read */
  start() {
    this.#timer = setInterval(() => void this.#readHeartbeats(), this.#everyMs).unref();
    return this.#readHeartbeats();
  }

  /** Ends the periodic reads. */
  stop() {
    clearInterval(this.#timer);
  }

  async #readHeartbeats() {
    try {
      const rows = await this.#store.all();
      const now = this.#clock();
      const silent = rows.filter((row) => isSilent(row, now)).length;
      this.#processes = { running: rows.length - silent, silent };
      const sharing = this.#shares ? rows.filter(isMember) : [];
      const online = sharing.filter((row) => !isSilent(row, now) && isConnected(row)).length;
      this.#members = { online, offline: sharing.length - online };
    } catch (error) {
      // This line is only at `debug`, because the pipeline already logs that the database is unavailable.
      this.#logger.debug({ reason: String(error) }, 'the heartbeats could not be read');
    }
  }
}

/** @param {ProcessRow} row @returns {Beat} */
const beatOf = ({ stats }) => JSON.parse(stats);

/** @param {ProcessRow} row @returns {boolean} whether the process has a session at the external broker */
const isMember = (row) => row.role !== 'http' && beatOf(row).shares;

/** @param {ProcessRow} row */
const isConnected = (row) => beatOf(row).broker?.ok === true;
