import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import type { Config } from '../../common/settings/config.ts';
import type { Check, Readiness } from './readiness.ts';

/** Pause in ms between two checks of a process by itself. */
const CHECK_EVERY_MS = 1000;

/** The health of one process. The dashboard shows a summary of it. */
export interface HealthReport {
  role: Config['role'];
  /** the checks that `GET /readyz` returns; empty before the first check */
  checks: Record<string, Check>;
  /** time in ms since the database last answered a check; 0: the database answers */
  unanswered_ms: number;
  /**
   * number of received messages that are not acknowledged, age of the oldest message, and time without
   * progress
   */
  unsettled: { messages: number; oldest_ms: number; standstill_ms: number };
}

/** Messages of a process that are not acknowledged. */
type Unsettled = { unsettled: number; oldestMs: number; standstillMs: number };

/**
 * Checks this process once a second, so that its health is known without a request. The report needs no database, so dashboards
 * get it even while the database is unavailable.
 */
export class ProcessHealth {
  #role;
  #readiness;
  #progress;
  #monotonic;
  #everyMs;
  #checks: Record<string, Check> = {};
  #answeredAt;
  #isChecking = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    role,
    readiness,
    progress,
    monotonic = () => performance.now(),
    everyMs = CHECK_EVERY_MS,
  }: {
    role: Config['role'];
    readiness: Pick<Readiness, 'read'>;
    progress: Unsettled;
    /** ms of a monotonic clock */
    monotonic?: () => number;
    everyMs?: number;
  }) {
    this.#role = role;
    this.#readiness = readiness;
    this.#progress = progress;
    this.#monotonic = monotonic;
    this.#everyMs = everyMs;
    this.#answeredAt = monotonic();
  }

  /** Checks now and periodically. @returns resolves after the first check */
  start(): Promise<void> {
    this.#timer = setInterval(() => void this.#check(), this.#everyMs).unref();
    return this.#check();
  }

  /** Ends the checks. */
  stop() {
    clearInterval(this.#timer);
  }

  /** Returns the current report. The numbers of messages are current. The checks may be one second old. */
  read(): HealthReport {
    const { unsettled, oldestMs, standstillMs } = this.#progress;
    const isAway = this.#checks['database']?.ok === false;
    return {
      role: this.#role,
      checks: this.#checks,
      unanswered_ms: isAway ? Math.round(this.#monotonic() - this.#answeredAt) : 0,
      unsettled: {
        messages: unsettled,
        oldest_ms: Math.round(oldestMs),
        standstill_ms: Math.round(standstillMs),
      },
    };
  }

  async #check() {
    // The previous check may still wait for the database, so skip this one.
    if (this.#isChecking) return;
    this.#isChecking = true;
    const { checks } = await this.#readiness.read();
    this.#isChecking = false;
    this.#checks = checks;
    if (checks['database']?.ok) this.#answeredAt = this.#monotonic();
  }
}

/**
 * Limits of a report that another process published at the broker: number of checks, length of a name and of a message, and size
 * of a number. A report above a limit is ignored.
 */
const MAX_CHECKS = 20;
const MAX_NAME_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 1000;
const MAX_FIGURE = 1e12;

const figure = z.int().min(0).max(MAX_FIGURE);
const check = z.object({ ok: z.boolean(), message: z.string().max(MAX_MESSAGE_LENGTH) });
const REPORT = z.object({
  role: z.enum(['all', 'ingest', 'http']),
  checks: z
    .record(z.string().max(MAX_NAME_LENGTH), check)
    .refine((checks) => Object.keys(checks).length <= MAX_CHECKS)
    .nullish()
    .transform((checks) => checks ?? {}),
  unanswered_ms: figure,
  unsettled: z.object({ messages: figure, oldest_ms: figure, standstill_ms: figure }),
});

/**
 * Copies a valid report that came from the broker. Any client can publish such a report if the broker has no access control.
 * @returns null: the report is not valid
 */
export const parseHealth = (report: unknown): HealthReport | null => REPORT.safeParse(report).data ?? null;

/** @returns whether all checks of the report succeed */
export const isWell = ({ checks }: Pick<HealthReport, 'checks'>): boolean =>
  Object.values(checks).every(({ ok }) => ok);
