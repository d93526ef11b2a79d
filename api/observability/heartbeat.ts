import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../common/settings/config.ts';
import type { ProcessRow, ProcessStore } from '../store/processes.ts';
import type { Context } from './index.ts';
import type { MeasurementCounts, Stats } from './process-stats.ts';
import type { Check } from './readiness.ts';
import type { WatchedTime } from './watched-time.ts';

/** The database may be unavailable when the process ends. */
const REMOVAL_TIMEOUT_MS = 1000;

/** three missed heartbeats */
const SILENT_AFTER_MS = 30_000;

/** `queue_bytes` and `lag_ms`: bytes and age of the records that wait to be streamed out */
type StreamBeat = { ok: boolean; lag_ms: number; queue_bytes: number; queue_limit: number };

/**
 * As `GET /pipeline` shows it. `shares`: the process shares the messages of an external broker. Heartbeats of older
 * versions lack `measurements`. `stream` is null or missing if nothing is streamed out.
 */
export type Beat = Stats & {
  measurements?: MeasurementCounts;
  broker: Check | null;
  shares: boolean;
  stream?: StreamBeat | null;
};

/** A process that stops removes its row. If a process crashes, its row expires after an hour. */
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
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #beats = false;

  constructor(
    { clock, logger }: Pick<Context, 'clock' | 'logger'>,
    {
      store,
      process: own,
      watchedTime,
      read,
      everyMs,
    }: {
      store: ProcessStore;
      process: { role: string; version: string };
      /** null: this process does not watch */
      watchedTime: Pick<WatchedTime, 'extend'> | null;
      read: () => Beat;
      everyMs: number;
    },
  ) {
    this.#clock = clock;
    this.#logger = logger;
    this.#store = store;
    this.#own = own;
    this.#watchedTime = watchedTime;
    this.#read = read;
    this.#everyMs = everyMs;
  }

  /** Resolves after the first heartbeat. */
  start(clientId: string): Promise<void> {
    this.#clientId = clientId;
    this.#startedAt = this.#clock();
    this.#timer = setInterval(() => this.#beat(), this.#everyMs);
    this.#beat();
    return this.#beating;
  }

  async stop() {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    const remove = async () => {
      await this.#beating;
      await this.#store.remove(this.#clientId);
    };
    // If the removal fails, the row expires later.
    await Promise.race([remove().catch(() => {}), sleep(REMOVAL_TIMEOUT_MS, undefined, { ref: false })]);
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

/** At an external broker, the client id is unique. */
export const processName = ({ role, mqtt }: Pick<Config, 'role' | 'mqtt'>, httpPort: number) =>
  mqtt.url && role !== 'http' ? mqtt.clientId : `${hostname()}:${httpPort}`;

export const isSilent = ({ seenAt }: Pick<ProcessRow, 'seenAt'>, now: number) =>
  now - seenAt > SILENT_AFTER_MS;

/**
 * A process that crashed counts as silent until its row expires. Until then the broker may still assign messages to its
 * session, and no process reads these messages.
 */
export class ProcessWatch {
  #clock;
  #logger;
  #store;
  #shares;
  #everyMs;
  #processes = { running: 0, silent: 0 };
  #members = { online: 0, offline: 0 };
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { clock, logger, metrics }: Pick<Context, 'clock' | 'logger' | 'metrics'>,
    {
      store,
      shares,
      everyMs,
    }: {
      store: Pick<ProcessStore, 'all'>;
      /** whether the processes share the messages of an external broker */
      shares: boolean;
      everyMs: number;
    },
  ) {
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

  /** Resolves after the first read. */
  start(): Promise<void> {
    this.#timer = setInterval(() => void this.#readHeartbeats(), this.#everyMs).unref();
    return this.#readHeartbeats();
  }

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

const beatOf = ({ stats }: ProcessRow): Beat => JSON.parse(stats);

const isMember = (row: ProcessRow): boolean => row.role !== 'http' && beatOf(row).shares;

const isConnected = (row: ProcessRow) => beatOf(row).broker?.ok === true;
