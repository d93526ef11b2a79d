import { int32, int64 } from './cql-encoding.ts';
import type { Page } from './history/unpacked.ts';
import type { Session } from './sending/session.ts';

/** The kind and the id of a committed item that is not a sample, such as a device event or a dead letter. */
export type OutboxEntry = { kind: string; id: string };

const INSERT = {
  name: 'write_stream_outbox',
  cql: 'INSERT INTO stream_outbox (grp, noticed, kind, id) VALUES (?, ?, ?, ?)',
};
const SELECT = {
  name: 'read_stream_outbox',
  cql: 'SELECT kind, id FROM stream_outbox WHERE grp = ? AND noticed = ? AND kind = ?',
  fetchSize: 500,
};

/** Entries have to be streamed out. They are stored by group and by the hour of their commit, `noticed`. */
export function createOutboxStore(session: Session) {
  return {
    write: (group: number, noticed: number, { kind, id }: OutboxEntry) =>
      session.write(INSERT, [int32(group), int64(noticed), kind, id]),

    async page(group: number, noticed: number, kind: string, after?: string): Promise<Page<OutboxEntry>> {
      const { rows, next } = await session.page(SELECT, [int32(group), int64(noticed), kind], after);
      return { items: rows.map(({ kind, id }) => ({ kind, id })), next };
    },
  };
}

export type OutboxStore = ReturnType<typeof createOutboxStore>;
