const NOW = { name: 'clock', cql: 'SELECT now() AS now FROM system.local' };

/**
 * @param {import('./session.js').Session} session
 * @param {() => number} clock epoch ms
 */
export function createHealth(session, clock) {
  return {
    /**
     * Asks the database for its time, which also shows that it answers.
     *
     * @returns {Promise<number>} how far our clock is ahead of the database's, in ms
     * @throws {import('../../common/errors.js').MillraceError} `unavailable`
     */
    async clockDifference() {
      const before = clock();
      const row = await session.one(NOW, []);
      const between = (before + clock()) / 2;
      return between - row?.['now'].getDate().getTime();
    },
  };
}

/** @typedef {ReturnType<typeof createHealth>} Health */
