import { uuidBytes, uuidText } from '../../../../schema/ids.ts';
import { int64 } from '../../../store/index.ts';
import type { Row, Session } from '../../../store/sending/session.ts';
import type { Change } from './change.ts';

const AFTER = {
  name: 'read_asset_changes',
  cql: 'SELECT version, changes FROM asset_change WHERE bucket = ? AND version > ?',
  // A row of 500 changes has about 100 KB.
  fetchSize: 16,
};
const APPEND = {
  name: 'add_asset_change',
  cql: 'INSERT INTO asset_change (bucket, version, edit, changes, edited_at, editor) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS',
};

/** In versions. A bucket of whole edits has about 25 MB. */
const BUCKET = 256;

const bucketOf = (version: number) => Math.floor(version / BUCKET);

export interface Edit {
  /** unique */
  id: string;
  changes: Change[];
  /** epoch ms */
  at: number;
  editor: string;
}

export function createAssetStore(session: Session) {
  return {
    /** Edits after this version, oldest first. */
    async *after(version: number): AsyncGenerator<{ version: number; changes: Change[] }, void> {
      let newest = version;
      let bucket: number;
      do {
        bucket = bucketOf(newest + 1);
        for await (const rows of session.pages(AFTER, [bucket, newest])) {
          for (const row of rows) {
            newest = row['version'];
            yield toEdit(row);
          }
        }
        // The newest edit may be the last one of its bucket.
      } while (bucketOf(newest + 1) > bucket);
    },

    /** Uses a lightweight transaction. @returns false: another edit has this version */
    async append(version: number, { id, changes, at, editor }: Edit): Promise<boolean> {
      const row = [bucketOf(version), version, uuidBytes(id), JSON.stringify(changes), int64(at), editor];
      const answer = await session.one(APPEND, row);
      // The driver repeats a request without an answer, and finds the row of its first attempt.
      return (
        answer?.['[applied]'] === true || (answer !== null && uuidText(answer['edit'].getBuffer()) === id)
      );
    },
  };
}

export type AssetStore = ReturnType<typeof createAssetStore>;

const toEdit = (row: Row) => ({ version: row['version'], changes: JSON.parse(row['changes']) });
