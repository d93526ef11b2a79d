import { int32, int64 } from './cql-values.ts';
import type { Session } from './sending/session.ts';

/** The kind and the id of a committed item that is not a sample, such as a device event or a dead letter. */
export type OutboxEntry = { kind: string; id: string };

const INSERT = {
  name: 'write_stream_outbox',
  cql: 'INSERT INTO stream_outbox (grp, noticed, kind, id) VALUES (?, ?, ?, ?)',
};

/** Entries wait for the feature that streams them. They are stored by group and by the hour of their commit, `noticed`. */
export const createOutboxStore = (session: Session) => ({
  write: (group: number, noticed: number, { kind, id }: OutboxEntry) =>
    session.write(INSERT, [int32(group), int64(noticed), kind, id]),
});

export type OutboxStore = ReturnType<typeof createOutboxStore>;
