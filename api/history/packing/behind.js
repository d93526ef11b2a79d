import { closingOf, DAY_MS } from '../../../schema/rules.js';

/** Packing that is this share of BATCH_DAYS behind needs somebody to look: at the end of them samples are lost. */
const ALERT_SHARE = 1 / 4;

const WARN_EVERY_MS = 600_000;

/**
 * How far packing is behind, by what was last read of each group.
 *
 * @param {object} parts
 * @param {() => number} parts.clock epoch ms
 * @param {number} parts.batchDays `BATCH_DAYS`
 * @param {import('pino').Logger} parts.logger
 */
export function createBehind({ clock, batchDays, logger }) {
  /** @type {Map<number, number>} */
  const packedUntil = new Map();
  let warnedAt = Number.NEGATIVE_INFINITY;

  const mostMs = ALERT_SHARE * batchDays * DAY_MS;

  const oldest = () => Math.min(...packedUntil.values());

  return {
    /** @param {number} group @param {number} until epoch ms */
    note(group, until) {
      packedUntil.set(group, until);
    },

    /** Farther behind than this many ms somebody has to look. */
    mostMs,

    /** @returns {number} ms from `packed_until` of the group that is the farthest back; 0 as long as nothing is known */
    behindMs: () => (packedUntil.size === 0 ? 0 : Math.max(0, clock() - oldest())),

    /** @returns {number} ms for which the oldest hour could have been packed */
    overdueMs: () => (packedUntil.size === 0 ? 0 : Math.max(0, clock() - closingOf(oldest()))),

    /** Tells people, now and then, while it is far behind. */
    warn() {
      const now = clock();
      const behindMs = this.behindMs();
      if (behindMs <= mostMs || now - warnedAt < WARN_EVERY_MS) return;
      warnedAt = now;
      const hours = Math.round(behindMs / 3_600_000);
      logger.warn(
        { hours, batchDays },
        'packing is far behind: what is not packed when its batches expire is lost',
      );
    },
  };
}

/** @typedef {ReturnType<typeof createBehind>} Behind */
