/** Farther than this from the database's clock a process does not count as ready, in ms. */
const MOST_CLOCK_DIFFERENCE_MS = 60_000;

/** An answer of the database is believed for this long, in ms. */
const FRESH_MS = 2000;

/**
 * Whether this process can do its work now.
 *
 * @typedef {{ ready: boolean, checks: Record<string, { ok: boolean, says: string }> }} State
 */

/**
 * @param {object} parts
 * @param {import('./store/health.js').Health} parts.health
 * @param {() => number} parts.clock epoch ms
 * @param {Record<string, () => { ok: boolean, says: string }>} parts.checks of the intakes
 */
export function createReadiness({ health, clock, checks }) {
  let askedAt = Number.NEGATIVE_INFINITY;
  /** @type {Promise<Record<string, { ok: boolean, says: string }>>} */
  let database = Promise.resolve({});

  /** @returns {Promise<Record<string, { ok: boolean, says: string }>>} */
  async function askDatabase() {
    try {
      const difference = Math.round(await health.clockDifference());
      return {
        database: { ok: true, says: 'answers' },
        clock: {
          ok: Math.abs(difference) <= MOST_CLOCK_DIFFERENCE_MS,
          says: `${difference} ms ahead of the database's`,
        },
      };
    } catch {
      return { database: { ok: false, says: 'does not answer' } };
    }
  }

  return {
    /** @returns {Promise<State>} */
    async read() {
      const now = clock();
      // However often this is asked, the database is asked once in a while.
      if (now - askedAt > FRESH_MS) {
        askedAt = now;
        database = askDatabase();
      }
      const all = { ...(await database) };
      for (const [name, check] of Object.entries(checks)) all[name] = check();
      return { ready: Object.values(all).every(({ ok }) => ok), checks: all };
    },
  };
}

/** @typedef {ReturnType<typeof createReadiness>} Readiness */
