import { type DeviceBytes, uuidText } from '../../schema/ids.ts';
import { yearOf } from '../../schema/rules.ts';
import { firstIdOf, int64, newTimeId, timeOfId } from './cql-values.ts';
import type { Row, Session } from './sending/session.ts';

const COLUMNS = 'id, revision, device_id, kind, sensors, first_at, end_at, samples, caller, reason, undoes';
const WRITE = `INSERT INTO correction (scope, year, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const PAGE = {
  name: 'corrections_page',
  cql: `SELECT ${COLUMNS} FROM correction WHERE scope = ? AND year = ? AND id >= ? AND id < ? LIMIT ?`,
};

const ONE = {
  name: 'read_correction',
  cql: `SELECT ${COLUMNS} FROM correction WHERE scope = ? AND year = ? AND id = ?`,
};

export type CorrectionKind = 'replace' | 'remove' | 'undo';

/** One act on one device. */
export interface Correction {
  /** timeuuid of the acceptance */
  id: Buffer;
  /** epoch µs of the acceptance */
  revision: number;
  /** id */
  device: string;
  kind: CorrectionKind;
  /** ids */
  sensors: string[];
  /** of the corrected samples, epoch ms; `to` is exclusive */
  from: number;
  to: number;
  /** that got a value, or were removed */
  samples: number;
  /** kind and address of the caller */
  by: string;
  reason: string | null;
  /** id of a correction, for the kind `undo` */
  undoes: Buffer | null;
}

/** Corrections of the whole installation have the nil UUID in place of a device's id. */
const INSTALLATION = Buffer.alloc(16);

/** A null would be a tombstone. */
const NO_REASON = '';

export function createCorrectionStore(session: Session) {
  return {
    /** Adds it to the list of its device, and to that of the installation. @param id of an entry that it replaces @returns its id */
    async add(
      device: DeviceBytes,
      {
        revision,
        undoes = null,
        ...given
      }: Omit<Correction, 'id' | 'device' | 'undoes'> & { undoes?: Buffer | null },
      id: Buffer = newTimeId(Math.floor(revision / 1000)),
    ): Promise<Buffer> {
      const { kind, sensors, from, to, samples, by, reason } = given;
      const ms = timeOfId(id);
      const rest = [
        ...[yearOf(ms), id, int64(revision), device, kind, JSON.stringify(sensors)],
        ...[int64(from), int64(to), int64(samples), by, reason ?? NO_REASON, undoes ?? undefined],
      ];
      await Promise.all(
        [device, INSTALLATION].map((scope) =>
          session.writeBatch('write_correction', [{ query: WRITE, params: [scope, ...rest] }]),
        ),
      );
      return id;
    },

    /** @returns null: there is no such correction, or it has expired */
    async find(id: Buffer): Promise<Correction | null> {
      const row = await session.one(ONE, [INSTALLATION, yearOf(timeOfId(id)), id]);
      return row ? toCorrection(row) : null;
    },

    /** Reads the corrections that were accepted in [from, to), newest first, year by year. @returns `next` is null at the end */
    async page(
      device: DeviceBytes | null,
      { from, to }: { from: number; to: number },
      { before, limit }: { before: Buffer | null; limit: number },
    ): Promise<{ corrections: Correction[]; next: Buffer | null }> {
      const corrections: Correction[] = [];
      if (from >= to) return { corrections, next: null };
      const first = firstIdOf(from);
      const end = before ?? firstIdOf(to);
      for (let year = yearOf(timeOfId(end)); year >= yearOf(from); year--) {
        const wanted = limit + 1 - corrections.length;
        const rows = await session.all(PAGE, [device ?? INSTALLATION, year, first, end, wanted]);
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
});

export type CorrectionStore = ReturnType<typeof createCorrectionStore>;
