import type { DeviceBytes } from '../../../schema/ids.ts';
import { PART } from '../../../schema/migrate/installation.ts';
import { bucketOf, DAY_MS, PACKED_BEFORE_START_MS } from '../../../schema/rules.ts';
import { int64, writeTimestamp } from '../cql-values.ts';
import type { Session } from '../sending/session.ts';
import type { Page } from './unpacked.ts';

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

export interface PackProgress {
  /** epoch ms before which every hour is packed, or has only late samples */
  packedUntil: number;
  /** epoch ms before which the second packing pass has read every hour */
  settledUntil: number;
  /** epoch ms: days with late samples are packed again if the samples arrived before it */
  noticedUntil: number;
}

export function createPackProgress(session: Session) {
  let start: Promise<number> | null = null;

  /** Packing starts when the installation began, because older samples count as late samples. */
  async function readStart() {
    const row = await session.one(SELECT_START, [PART]);
    return bucketOf(row?.['applied_at'].getTime() ?? 0) - PACKED_BEFORE_START_MS;
  }

  function startOf(): Promise<number> {
    // The start never changes, so it is cached. After a failed read the next caller reads again.
    start ??= readStart().catch((error) => {
      start = null;
      throw error;
    });
    return start;
  }

  return {
    async read(group: number): Promise<PackProgress> {
      const [row, begin] = await Promise.all([session.one(SELECT, [group]), startOf()]);
      return {
        packedUntil: row?.['packed_until']?.getTime() ?? begin,
        // Samples of the two days before the installation may still arrive.
        settledUntil: row?.['settled_until']?.getTime() ?? begin - 2 * DAY_MS,
        noticedUntil: row?.['noticed_until']?.getTime() ?? begin,
      };
    },

    /** The write timestamp is `until` itself. So if two processes pack a group, the database keeps the later progress. */
    writePacked: (group: number, until: number) =>
      session.write(WRITE_PACKED, [writeTimestamp(until), int64(until), group]),

    writeSettled: (group: number, until: number) =>
      session.write(WRITE_SETTLED, [writeTimestamp(until), int64(until), group]),

    writeNoticed: (group: number, until: number) =>
      session.write(WRITE_NOTICED, [writeTimestamp(until), int64(until), group]),
  };
}

/** Then another process may take the lease of a dead process. */
export const LEASE_SECONDS = 60;

/**
 * The owner of a lease is the only process that does the work of a group. A lease is taken by a lightweight transaction, on which
 * all data centers agree. `seconds`: after them the lease of a dead process expires
 */
export function createLeaseStore(session: Session, table: string, seconds: number = LEASE_SECONDS) {
  const take = {
    name: 'take_lease',
    cql: `INSERT INTO ${table} (grp, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ${seconds}`,
  };
  const renew = {
    name: 'renew_lease',
    cql: `UPDATE ${table} USING TTL ${seconds} SET owner = ? WHERE grp = ? IF owner = ?`,
  };
  const remove = { name: 'release_lease', cql: `DELETE FROM ${table} WHERE grp = ? IF owner = ?` };
  return {
    async take(group: number, owner: string): Promise<boolean> {
      const row = await session.one(take, [group, owner]);
      // The driver may have repeated a request that was already applied.
      return row?.['[applied]'] === true || row?.['owner'] === owner;
    },

    /** @returns false: this process has lost the lease */
    renew: async (group: number, owner: string): Promise<boolean> =>
      (await session.one(renew, [owner, group, owner]))?.['[applied]'] === true,

    release: (group: number, owner: string) => session.write(remove, [group, owner]),
  };
}

export type LeaseStore = ReturnType<typeof createLeaseStore>;

const INSERT = 'INSERT INTO late_day (grp, noticed, device_id, day) VALUES (?, ?, ?, ?)';
const INSERT_CORRECTED =
  'INSERT INTO late_day (grp, noticed, device_id, day, corrected) VALUES (?, ?, ?, ?, ?)';
const SELECT_LATE_DAYS = {
  name: 'read_late_days',
  cql: 'SELECT device_id, day, corrected FROM late_day WHERE grp = ? AND noticed = ?',
};

type LateDay = { device: DeviceBytes; day: number };

/** `corrected`: samples that corrections hide are to be deleted */
export type NotedDay = LateDay & { corrected: boolean };

export function createLateDays(session: Session) {
  return {
    /** @param noticed epoch ms of the hour in which the late samples arrived */
    async write(group: number, noticed: number, days: LateDay[]) {
      await session.writeBatch(
        'write_late_days',
        days.map(({ device, day }) => ({
          query: INSERT,
          params: [group, int64(noticed), device, int64(day)],
        })),
      );
    },

    /** @param noticed epoch ms of the hour from which samples that corrections hide may be deleted */
    async writeCorrected(group: number, noticed: number, days: LateDay[]) {
      await session.writeBatch(
        'write_corrected_days',
        days.map(({ device, day }) => ({
          query: INSERT_CORRECTED,
          params: [group, int64(noticed), device, int64(day), true],
        })),
      );
    },

    /** @param noticed epoch ms of the hour in which the late samples arrived */
    async page(group: number, noticed: number, after?: string): Promise<Page<NotedDay>> {
      const { rows, next } = await session.page(SELECT_LATE_DAYS, [group, int64(noticed)], after);
      const items = rows.map((row) => ({
        device: row['device_id'].getBuffer(),
        day: row['day'].getTime(),
        corrected: row['corrected'] === true,
      }));
      return { items, next };
    },
  };
}

export type LateDayStore = ReturnType<typeof createLateDays>;
