import { PART } from '../../../schema/migrate/installation.js';
import { bucketOf, DAY_MS, MAX_STATEMENTS_PER_BATCH, PACKED_BEFORE_START_MS } from '../../../schema/rules.js';
import { int64, stampOf } from '../cells.js';

/** @import { Session } from '../session.js' */
/** @import { Page } from './unpacked.js' */

const SELECT = {
  name: 'read_pack_progress',
  cql: 'SELECT packed_until, settled_until, noticed_until FROM pack_progress WHERE grp = ?',
};
const WRITE_PACKED = {
  name: 'write_packed_until',
  cql: 'UPDATE pack_progress USING TIMESTAMP ? SET packed_until = ? WHERE grp = ?',
};
const WRITE_SETTLED = {
  name: 'write_settled_until',
  cql: 'UPDATE pack_progress USING TIMESTAMP ? SET settled_until = ? WHERE grp = ?',
};
const WRITE_NOTICED = {
  name: 'write_noticed_until',
  cql: 'UPDATE pack_progress USING TIMESTAMP ? SET noticed_until = ? WHERE grp = ?',
};
const SELECT_START = {
  name: 'read_start',
  cql: 'SELECT applied_at FROM schema_version WHERE part = ? AND version = 1',
};

/**
 * How far a group of devices is packed.
 *
 * @typedef {object} PackProgress
 * @property {number} packedUntil epoch ms: every hour before it is packed, or has no data but late ones
 * @property {number} settledUntil epoch ms: every hour before it has been looked at a second time
 * @property {number} noticedUntil epoch ms: all days that were noticed before it, since they came later still, are packed
 */

/** @param {Session} session */
export function createPackProgress(session) {
  /** @type {Promise<number> | null} */
  let start = null;

  /** What was measured before an installation existed is late for its hour, so packing begins there. */
  async function readStart() {
    const row = await session.one(SELECT_START, [PART]);
    return bucketOf(row?.['applied_at'].getTime() ?? 0) - PACKED_BEFORE_START_MS;
  }

  /** @returns {Promise<number>} epoch ms */
  function startOf() {
    // It never changes; a reading that failed is tried again by whoever asks next.
    start ??= readStart().catch((error) => {
      start = null;
      throw error;
    });
    return start;
  }

  return {
    /** @param {number} group @returns {Promise<PackProgress>} */
    async read(group) {
      const [row, begin] = await Promise.all([session.one(SELECT, [group]), startOf()]);
      return {
        packedUntil: row?.['packed_until']?.getTime() ?? begin,
        // What comes of the days before the first is noticed only when their turn would be over.
        settledUntil: row?.['settled_until']?.getTime() ?? begin - 2 * DAY_MS,
        noticedUntil: row?.['noticed_until']?.getTime() ?? begin,
      };
    },

    /** Stamped with the instant itself: of two processes that pack the same group the farther one wins. @param {number} group @param {number} until epoch ms */
    writePacked: (group, until) => session.write(WRITE_PACKED, [stampOf(until), int64(until), group]),

    /** @param {number} group @param {number} until epoch ms */
    writeSettled: (group, until) => session.write(WRITE_SETTLED, [stampOf(until), int64(until), group]),

    /** @param {number} group @param {number} until epoch ms */
    writeNoticed: (group, until) => session.write(WRITE_NOTICED, [stampOf(until), int64(until), group]),
  };
}

/** @typedef {ReturnType<typeof createPackProgress>} PackProgressStore */

/** Seconds after which the lease of a process that died is free again. */
export const LEASE_SECONDS = 60;

const TAKE = {
  name: 'take_lease',
  cql: `INSERT INTO pack_lease (grp, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ${LEASE_SECONDS}`,
};
const RENEW = {
  name: 'renew_lease',
  cql: `UPDATE pack_lease USING TTL ${LEASE_SECONDS} SET owner = ? WHERE grp = ? IF owner = ?`,
};
const RELEASE = { name: 'release_lease', cql: 'DELETE FROM pack_lease WHERE grp = ? IF owner = ?' };

/**
 * Who packs a group, by lightweight transactions within the data centre.
 *
 * @param {Session} session
 */
export function createPackLeases(session) {
  return {
    /** @param {number} group @param {string} owner @returns {Promise<boolean>} false: somebody else has it */
    async take(group, owner) {
      const row = await session.one(TAKE, [group, owner]);
      // The driver may have repeated what had been applied already.
      return row?.['[applied]'] === true || row?.['owner'] === owner;
    },

    /** @param {number} group @param {string} owner @returns {Promise<boolean>} false: it is not ours any more */
    renew: async (group, owner) => (await session.one(RENEW, [owner, group, owner]))?.['[applied]'] === true,

    /** @param {number} group @param {string} owner */
    release: (group, owner) => session.write(RELEASE, [group, owner]),
  };
}

/** @typedef {ReturnType<typeof createPackLeases>} PackLeases */

const INSERT = 'INSERT INTO late_day (grp, noticed, device_id, day) VALUES (?, ?, ?, ?)';
const SELECT_LATE_DAYS = {
  name: 'read_late_days',
  cql: 'SELECT device_id, day FROM late_day WHERE grp = ? AND noticed = ?',
};

/** @typedef {{ device: Buffer, day: number }} LateDay `device`: 16 bytes; `day`: epoch ms of its start */

/** Days to be packed once more. @param {Session} session */
export function createLateDays(session) {
  return {
    /**
     * @param {number} group of the device
     * @param {number} noticed epoch ms, the hour in which they came late
     * @param {LateDay[]} days
     */
    async write(group, noticed, days) {
      for (let from = 0; from < days.length; from += MAX_STATEMENTS_PER_BATCH) {
        const some = days.slice(from, from + MAX_STATEMENTS_PER_BATCH);
        await session.writeBatch('write_late_days', () =>
          some.map(({ device, day }) => ({
            query: INSERT,
            params: [group, int64(noticed), device, int64(day)],
          })),
        );
      }
    },

    /**
     * @param {number} group
     * @param {number} noticed epoch ms
     * @param {string} [after]
     * @returns {Promise<Page<LateDay>>}
     */
    async page(group, noticed, after) {
      const { rows, next } = await session.page(SELECT_LATE_DAYS, [group, int64(noticed)], after);
      const items = rows.map((row) => ({ device: row['device_id'].getBuffer(), day: row['day'].getTime() }));
      return { items, next };
    },
  };
}

/** @typedef {ReturnType<typeof createLateDays>} LateDayStore */
