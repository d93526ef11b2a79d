import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MOST_CLOCK_DIFFERENCE_MS } from '../../schema/rules.js';

/** @import { Health } from '../store/index.js' */

/** An answer of the database is believed for this long, in ms. */
const FRESH_MS = 2000;

/** Who asks, often with little limit, gets an answer after this long at the latest, in ms. */
const MOST_WAIT_MS = 2000;

/**
 * One thing that must be well.
 *
 * @typedef {{ ok: boolean, message: string }} Check
 */

/**
 * Whether this process can do its work now.
 *
 * @typedef {{ ready: boolean, checks: Record<string, Check> }} State
 */

/**
 * @param {object} parts
 * @param {Health} parts.health
 * @param {Record<string, () => Check>} parts.checks of the message source
 * @param {Record<string, () => Check>} [parts.notes] told like checks; without them a process can do its work all the
 *   same, less well, and to take it away would help nobody
 */
export function createReadiness({ health, checks, notes = {} }) {
  let askedAt = Number.NEGATIVE_INFINITY;
  /** @type {Promise<Record<string, Check>>} */
  let answer = Promise.resolve({});

  /** @returns {Promise<Record<string, Check>>} */
  async function askDatabase() {
    const limit = new AbortController();
    try {
      const difference = await Promise.race([
        health.clockDifference(),
        sleep(MOST_WAIT_MS, null, { signal: limit.signal }),
      ]);
      if (difference === null) return { database: AWAY };
      return { database: { ok: true, message: 'answers' }, clock: checkClock(Math.round(difference)) };
    } catch {
      // Why it does not answer is logged where the requests of the pipeline fail; here only that counts.
      return { database: AWAY };
    } finally {
      limit.abort();
    }
  }

  return {
    /** @returns {Promise<State>} */
    async read() {
      // However often this is asked, the database is asked once in a while; by a clock that nobody sets.
      const now = performance.now();
      if (now - askedAt > FRESH_MS) {
        askedAt = now;
        answer = askDatabase();
      }
      const all = { ...(await answer) };
      for (const [name, check] of Object.entries(checks)) all[name] = check();
      const ready = Object.values(all).every(({ ok }) => ok);
      for (const [name, note] of Object.entries(notes)) all[name] = note();
      return { ready, checks: all };
    },
  };
}

/** @typedef {ReturnType<typeof createReadiness>} Readiness */

/** @type {Check} */
const AWAY = { ok: false, message: 'does not answer' };

/** @param {number} difference ms that our clock is ahead @returns {Check} */
const checkClock = (difference) => ({
  ok: Math.abs(difference) <= MOST_CLOCK_DIFFERENCE_MS,
  message: `${Math.abs(difference)} ms ${difference < 0 ? 'behind' : 'ahead of'} the database's`,
});
