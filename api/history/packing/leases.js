/** @import { Logger } from 'pino' */
/** @import { PackLeases } from '../../store/history/progress.js' */

/** A lease is renewed this often, in ms: three times before it expires. */
const RENEW_EVERY_MS = 20_000;

/**
 * Shares groups out among processes: a process takes a group when it has something to do there, and gives it back when that
 * is done. So whoever is free takes what is left, and nobody counts processes. A lease only spreads the work: when one is
 * lost half-way, two processes pack the same, and nothing is wrong.
 *
 * @param {object} deps
 * @param {PackLeases} deps.store
 * @param {string} deps.owner no other process has it
 * @param {Logger} deps.logger
 */
export function createLeases({ store, owner, logger }) {
  /** @param {number} group */
  const renew = (group) => () =>
    void store.renew(group, owner).catch((error) => {
      logger.debug({ group, reason: String(error) }, 'the lease of a group could not be renewed');
    });

  return {
    /**
     * @param {number} group
     * @param {() => Promise<void>} work done while we have the lease
     * @returns {Promise<boolean>} false: another process is at it, nothing was done
     * @throws what `work` throws, or `unavailable`
     */
    async hold(group, work) {
      if (!(await store.take(group, owner))) return false;
      const renewal = setInterval(renew(group), RENEW_EVERY_MS).unref();
      try {
        await work();
      } finally {
        clearInterval(renewal);
        // One that cannot be given back expires.
        await store.release(group, owner).catch(() => {});
      }
      return true;
    },
  };
}

/** @typedef {Pick<ReturnType<typeof createLeases>, 'hold'>} Leases */
