import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import type { Config } from '../../common/settings/config.ts';
import type { Check, Readiness } from './readiness.ts';

const CHECK_EVERY_MS = 1000;

export interface HealthReport {
  role: Config['role'];
  /** as `GET /readyz` returns them; empty before the first check */
  checks: Record<string, Check>;
  /** time in ms since the database last answered a check; 0: the database answers */
  unanswered_ms: number;
  /** received messages that are not acknowledged, age of the oldest, and time without progress */
  unsettled: { messages: number; oldest_ms: number; standstill_ms: number };
}

export type Unsettled = { unsettled: number; oldestMs: number; standstillMs: number };

/** The report needs no database, so dashboards get it even while the database is unavailable. */
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

  /** Resolves after the first check. */
  start(): Promise<void> {
    this.#timer = setInterval(() => void this.#check(), this.#everyMs).unref();
    return this.#check();
  }

  stop() {
    clearInterval(this.#timer);
  }

  /** The numbers of messages are current. The checks may be one second old. */
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

/** Limits of a report that another process published at the broker. A report above a limit is ignored. */
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

/** Any client can publish a report if the broker has no access control. Returns null for an invalid report. */
export const parseHealth = (report: unknown): HealthReport | null => REPORT.safeParse(report).data ?? null;

export const isWell = ({ checks }: Pick<HealthReport, 'checks'>): boolean =>
  Object.values(checks).every(({ ok }) => ok);
