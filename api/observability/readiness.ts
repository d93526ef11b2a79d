import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.ts';
import type { Health } from '../store/index.ts';

const FRESH_MS = 2000;

/** Short, because probes have short timeouts. */
const MAX_WAIT_MS = 2000;

export type Check = { ok: boolean; message: string };

type State = { ready: boolean; checks: Record<string, Check> };

export class Readiness {
  #health;
  #checks;
  #notes;
  #askedAt = Number.NEGATIVE_INFINITY;
  #answer: Promise<Record<string, Check>> = Promise.resolve({});

  constructor({
    health,
    checks,
    notes = {},
  }: {
    health: Health;
    /** checks of the message source */
    checks: Record<string, () => Check>;
    /** do not affect `ready`, because a process can work without them */
    notes?: Record<string, () => Check>;
  }) {
    this.#health = health;
    this.#checks = checks;
    this.#notes = notes;
  }

  async read(): Promise<State> {
    // The cache limits the requests to the database. Its clock is monotonic, because an operator may change the wall clock.
    const now = performance.now();
    if (now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now;
      this.#answer = this.#askDatabase();
    }
    const all = { ...(await this.#answer) };
    for (const [name, check] of Object.entries(this.#checks)) all[name] = check();
    const ready = Object.values(all).every(({ ok }) => ok);
    for (const [name, note] of Object.entries(this.#notes)) all[name] = note();
    return { ready, checks: all };
  }

  async #askDatabase(): Promise<Record<string, Check>> {
    const limit = new AbortController();
    try {
      const difference = await Promise.race([
        this.#health.clockDifference(),
        sleep(MAX_WAIT_MS, null, { signal: limit.signal }),
      ]);
      if (difference === null) return { database: AWAY };
      return { database: { ok: true, message: 'answers' }, clock: checkClock(Math.round(difference)) };
    } catch {
      // The pipeline logs the reason when its requests fail.
      return { database: AWAY };
    } finally {
      limit.abort();
    }
  }
}

const AWAY: Check = { ok: false, message: 'does not answer' };

/** `difference`: ms by which the local clock is ahead */
const checkClock = (difference: number): Check => ({
  ok: Math.abs(difference) <= MOST_CLOCK_DIFFERENCE_MS,
  message: `${Math.abs(difference)} ms ${difference < 0 ? 'behind' : 'ahead of'} the database's`,
});
