import { PART } from '../../../schema/migrate/installation.js';
import { bucketOf, DAY_MS, MAX_STATEMENTS_PER_BATCH, PACKED_BEFORE_START_MS } from '../../../schema/rules.js';
import { int64, writeTimestamp } from '../cql-encoding.js';

/** @import { Session } from '../sending/session.js' */
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
 * The packing progress of a group of devices.
 *
 * @typedef {object} PackProgress
 * @property {number} packedUntil epoch ms: every hour before it is packed, or has only late data
 * @property {number} settledUntil epoch ms: the second packing pass has read every hour before it
 * @property {number} noticedUntil epoch ms: all late days that were noticed before it are packed
 */

/** @param {Session} session */
export function createPackProgress(session) {
  /** @type {Promise<number> | null} */
  let start = null;

  /** Samples from before the installation are late for their hours. So packing starts with the installation. */
  async function readStart() {
    const row = await session.one(SELECT_START, [PART]);
    return bucketOf(row?.['applied_at'].getTime() ?? 0) - PACKED_BEFORE_START_MS;
  }

  /** @returns {Promise<number>} epoch ms */
  function startOf() {
    // The start never changes. After a failed read the next caller tries again.
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
        // Samples of the two days before the start may still arrive.
        settledUntil: row?.['settled_until']?.getTime() ?? begin - 2 * DAY_MS,
        noticedUntil: row?.['noticed_until']?.getTime() ?? begin,
      };
    },

    /**
     * Stores the progress of the first pass. The write timestamp is the instant itself, so if two processes
     * pack a group, the greater instant wins.
     *
     * @param {number} group
     * @param {number} until epoch ms
     */
    writePacked: (group, until) => session.write(WRITE_PACKED, [writeTimestamp(until), int64(until), group]),

    /** @param {number} group @param {number} until epoch ms */
    writeSettled: (group, until) =>
      session.write(WRITE_SETTLED, [writeTimestamp(until), int64(until), group]),

    /** @param {number} group @param {number} until epoch ms */
    writeNoticed: (group, until) =>
      session.write(WRITE_NOTICED, [writeTimestamp(until), int64(until), group]),
  };
}

/** @typedef {ReturnType<typeof createPackProgress>} PackProgressStore */

/** Seconds until the lease of a dead process expires. */
export const LEASE_SECONDS = 60;

/** @param {'pack_lease' | 'stream_lease' | 'parquet_lease'} table */
const leaseStatements = (table) => ({
  take: {
    name: 'take_lease',
    cql: `INSERT INTO ${table} (grp, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ${LEASE_SECONDS}`,
  },
  renew: {
    name: 'renew_lease',
    cql: `UPDATE ${table} USING TTL ${LEASE_SECONDS} SET owner = ? WHERE grp = ? IF owner = ?`,
  },
  release: { name: 'release_lease', cql: `DELETE FROM ${table} WHERE grp = ? IF owner = ?` },
});

/**
 * Leases of groups: one process at a time packs, streams or writes the files of a group. Each lease is a
 * lightweight transaction within the data center.
 *
 * @param {Session} session
 * @param {'pack_lease' | 'stream_lease' | 'parquet_lease'} table
 */
export function createPackLeases(session, table) {
  const { take, renew, release } = leaseStatements(table);
  return {
    /** @param {number} group @param {string} owner @returns {Promise<boolean>} false: another process has the lease */
    async take(group, owner) {
      const row = await session.one(take, [group, owner]);
      // The driver may have repeated a request that was already applied.
      return row?.['[applied]'] === true || row?.['owner'] === owner;
    },

    /**
     * @param {number} group
     * @param {string} owner
     * @returns {Promise<boolean>} false: this process has lost the lease
     */
    renew: async (group, owner) => (await session.one(renew, [owner, group, owner]))?.['[applied]'] === true,

    /** @param {number} group @param {string} owner */
    release: (group, owner) => session.write(release, [group, owner]),
  };
}

/** @typedef {ReturnType<typeof createPackLeases>} PackLeases */

const INSERT = 'INSERT INTO late_day (grp, noticed, device_id, day) VALUES (?, ?, ?, ?)';
const SELECT_LATE_DAYS = {
  name: 'read_late_days',
  cql: 'SELECT device_id, day FROM late_day WHERE grp = ? AND noticed = ?',
};

/** @typedef {{ device: Buffer, day: number }} LateDay `device`: 16 bytes; `day`: epoch ms of its start */

/** Days that must be packed again, because they got late samples. @param {Session} session */
export function createLateDays(session) {
  return {
    /**
     * @param {number} group of the device
     * @param {number} noticed epoch ms, the hour in which the late samples arrived
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
