import { type DeviceBytes, type SensorBytes, uuidBytes, uuidText } from '../../schema/ids.ts';
import { monthOf } from '../../schema/rules.ts';
import { firstIdOf, int64, newTimeId, timeOfId } from './cql-values.ts';
import type { Row, Session } from './sending/session.ts';

const COLUMNS =
  'id, revision, device_id, kind, sensors, first_at, end_at, samples, caller, reason, undoes, running_until';
const WRITE = `INSERT INTO correction_log (scope, month, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const FINISH = `INSERT INTO correction_log (scope, month, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?`;
const PAGE = {
  name: 'corrections_page',
  cql: `SELECT ${COLUMNS} FROM correction_log WHERE scope = ? AND month = ? AND id >= ? AND id < ? LIMIT ?`,
};
const REVISIONS = {
  name: 'read_revisions',
  cql: 'SELECT id, revision, undoes, running_until FROM correction_log WHERE scope = ? AND month = ? AND id >= ? AND id < ?',
};
const WITHDRAW = 'DELETE FROM correction_log WHERE scope = ? AND month = ? AND id = ?';
const ONE = {
  name: 'read_correction',
  cql: `SELECT ${COLUMNS}, WRITETIME(running_until) AS written_at FROM correction_log WHERE scope = ? AND month = ? AND id = ?`,
};

export type CorrectionKind = 'replace' | 'remove' | 'undo';

/** One act on one device. */
export interface Correction {
  /** timeuuid of the acceptance, or of the replay of a dead letter */
  id: Buffer;
  /** epoch µs of the acceptance */
  revision: number;
  /** id */
  device: string;
  kind: CorrectionKind;
  /** ids; until a removal is finished, all that it may have changed */
  sensors: string[];
  /** of the corrected samples, epoch ms; `to` is exclusive */
  from: number;
  to: number;
  /** that got a value, or were removed */
  samples: number;
  /** kind, fingerprint and address of the caller */
  by: string;
  reason: string | null;
  /** id of a correction, for the kind `undo` */
  undoes: Buffer | null;
  /** epoch ms. Later its process counts as ended; 0: the correction is finished */
  runningUntil: number;
}

/** Corrections of the whole installation have the nil UUID in place of a device's id. */
const INSTALLATION = Buffer.alloc(16);

/** A null would be a tombstone. */
const NO_REASON = '';

/** In µs. The two rows of a correction are written within this time, and the next write comes minutes later. */
const ROWS_WITHIN_US = 1_000_000;

/** A part of its entry. */
export type ListedCorrection = Pick<Correction, 'id' | 'revision' | 'undoes' | 'runningUntil'>;

/** `writtenAt`: write timestamp of the entry, in µs */
export type ReadCorrection = Correction & { writtenAt: number };

export function createCorrectionStore(session: Session) {
  async function write(
    { id, revision, device, undoes, ...correction }: Correction,
    query: string,
    stamp: Buffer[] = [],
  ) {
    const { kind, sensors, from, to, samples, by, reason, runningUntil } = correction;
    const bytes = uuidBytes(device);
    const rest = [
      ...[int64(monthOf(timeOfId(id))), id, int64(revision), bytes, kind, JSON.stringify(sensors)],
      ...[int64(from), int64(to), int64(samples), by, reason ?? NO_REASON, undoes ?? undefined],
      ...[int64(runningUntil), ...stamp],
    ];
    await Promise.all(
      [bytes, INSTALLATION].map((scope) =>
        session.writeBatch('write_correction', [{ query, params: [scope, ...rest] }]),
      ),
    );
  }

  return {
    /** Adds it to the list of its device, and to that of the installation, or replaces its entry. */
    add: (correction: Correction): Promise<void> => write(correction, WRITE),

    /** Deletes its entries, before it has changed a sample. */
    async withdraw({ id, device }: Correction): Promise<void> {
      const queries = [uuidBytes(device), INSTALLATION].map((scope) => ({
        query: WITHDRAW,
        params: [scope, int64(monthOf(timeOfId(id))), id],
      }));
      for (const query of queries) await session.writeBatch('withdraw_correction', [query]);
    },

    /** Marks it as finished, unless its own process has changed it since `writtenAt`. */
    finish: ({ writtenAt, ...correction }: ReadCorrection): Promise<void> =>
      write({ ...correction, runningUntil: 0 }, FINISH, [int64(writtenAt + ROWS_WITHIN_US)]),

    newId: (revision: number): Buffer => newTimeId(Math.floor(revision / 1000)),

    /** @returns null: there is no such correction, or it has expired */
    async find(id: Buffer): Promise<ReadCorrection | null> {
      const row = await session.one(ONE, [INSTALLATION, int64(monthOf(timeOfId(id))), id]);
      return row ? { ...toCorrection(row), writtenAt: Number(row['written_at']) } : null;
    },

    /**
     * The corrections of a device or of the installation that `isWanted` selects, oldest first. `from` and `to` limit the times of their ids,
     * in epoch ms, half-open.
     */
    async select(
      device: DeviceBytes | null,
      { from, to }: { from: number; to: number },
      isWanted: (listed: ListedCorrection) => boolean,
    ): Promise<ListedCorrection[]> {
      const found: ListedCorrection[] = [];
      for (let month = monthOf(to); month >= monthOf(from); month = monthOf(month - 1)) {
        const params = [device ?? INSTALLATION, int64(month), firstIdOf(from), firstIdOf(to)];
        for await (const rows of session.pages(REVISIONS, params))
          found.push(...rows.map(toListed).filter(isWanted));
      }
      return found.reverse();
    },

    /** All corrections of the range: see `select`. */
    revisions(device: DeviceBytes | null, range: { from: number; to: number }) {
      return this.select(device, range, () => true);
    },

    /** The sensors of the corrections of a device that were accepted in [from, to). */
    async sensors(device: DeviceBytes, range: { from: number; to: number }): Promise<SensorBytes[]> {
      const sensors: Set<string> = new Set();
      let before: Buffer | null = null;
      do {
        const page: Awaited<ReturnType<typeof this.page>> = await this.page(device, range, {
          before,
          limit: 100,
        });
        for (const correction of page.corrections) for (const id of correction.sensors) sensors.add(id);
        before = page.next;
      } while (before);
      return [...sensors].map(uuidBytes);
    },

    /** Reads the corrections that were accepted in [from, to), newest first, month by month. @returns `next` is null at the end */
    async page(
      device: DeviceBytes | null,
      { from, to }: { from: number; to: number },
      { before, limit }: { before: Buffer | null; limit: number },
    ): Promise<{ corrections: Correction[]; next: Buffer | null }> {
      const corrections: Correction[] = [];
      if (from >= to) return { corrections, next: null };
      const first = firstIdOf(from);
      const end = before ?? firstIdOf(to);
      for (let month = monthOf(timeOfId(end)); month >= monthOf(from); month = monthOf(month - 1)) {
        const wanted = limit + 1 - corrections.length;
        const rows = await session.all(PAGE, [device ?? INSTALLATION, int64(month), first, end, wanted]);
        corrections.push(...rows.map(toCorrection));
        if (corrections.length > limit) {
          corrections.length = limit;
          return { corrections, next: corrections.at(-1)?.id ?? null };
        }
      }
      return { corrections, next: null };
    },
  };
}

const toListed = (row: Row): ListedCorrection => ({
  id: row['id'].getBuffer(),
  revision: Number(row['revision']),
  undoes: row['undoes']?.getBuffer() ?? null,
  runningUntil: row['running_until'].getTime(),
});

const toCorrection = (row: Row): Correction => ({
  id: row['id'].getBuffer(),
  revision: Number(row['revision']),
  device: uuidText(row['device_id'].getBuffer()),
  kind: row['kind'],
  sensors: JSON.parse(row['sensors']),
  from: row['first_at'].getTime(),
  to: row['end_at'].getTime(),
  samples: Number(row['samples']),
  by: row['caller'],
  reason: row['reason'] === NO_REASON ? null : row['reason'],
  undoes: row['undoes']?.getBuffer() ?? null,
  runningUntil: row['running_until'].getTime(),
});

export type CorrectionStore = ReturnType<typeof createCorrectionStore>;
