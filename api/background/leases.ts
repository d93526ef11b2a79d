import type { Logger } from 'pino';
import type { LeaseStore } from '../store/history/progress.ts';

/** In ms. A lease would expire after three times this time. */
const RENEW_EVERY_MS = 20_000;

/**
 * A process leases a group with due hours, and releases the group afterwards. So an idle process takes the
 * next group, and no process needs to know how many processes there are. A lease only spreads the work. If a
 * lease is lost, two processes do the same work, and the result is the same.
 */
export function createLeases({
  store,
  owner,
  logger,
}: {
  store: LeaseStore;
  /** unique among all processes */
  owner: string;
  logger: Logger;
}) {
  const renew = (group: number) => () =>
    void store.renew(group, owner).catch((error) => {
      logger.debug({ group, reason: String(error) }, 'the lease of a group could not be renewed');
    });

  return {
    /** @returns false: another process has the lease, and `work` did not run @throws what `work` throws, or `unavailable` */
    async hold(group: number, work: () => Promise<void>): Promise<boolean> {
      if (!(await store.take(group, owner))) return false;
      const renewal = setInterval(renew(group), RENEW_EVERY_MS).unref();
      try {
        await work();
      } finally {
        clearInterval(renewal);
        // A lease that cannot be released expires.
        await store.release(group, owner).catch(() => {});
      }
      return true;
    },
  };
}

export type Leases = Pick<ReturnType<typeof createLeases>, 'hold'>;
