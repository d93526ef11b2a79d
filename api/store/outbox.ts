import { int32, int64 } from './cql-encoding.js';

/** @import { Page } from './history/unpacked.js' */
/** @import { Session } from './sending/session.js' */

/** @typedef {'event' | 'dead_letter' | 'alarm'} OutboxKind */

/**
 * An entry of the outbox: the id of a device event, a dead letter, or a change of an alarm.
 *
 * @typedef {{ kind: OutboxKind, id: string }} OutboxEntry
 */

const INSERT = {
  name: 'write_stream_outbox',
  cql: 'INSERT INTO stream_outbox (grp, noticed, kind, id) VALUES (?, ?, ?, ?)',
};
const SELECT = {
  name: 'read_stream_outbox',
  cql: 'SELECT kind, id FROM stream_outbox WHERE grp = ? AND noticed = ? AND kind = ?',
  fetchSize: 500,
};

/**
 * Creates the store of the outbox: entries that have to be sent to Kafka, by group and by the hour of their commit.
 *
 * @param {Session} session
 */
export function createOutboxStore(session) {
  return {
    /** @param {number} group @param {number} noticed epoch ms of the hour of the commit @param {OutboxEntry} entry */
    write: (group, noticed, { kind, id }) => session.write(INSERT, [int32(group), int64(noticed), kind, id]),

    /** @param {number} group @param {number} noticed epoch ms @param {OutboxKind} kind @param {string} [after] @returns {Promise<Page<OutboxEntry>>} */
    async page(group, noticed, kind, after) {
      const { rows, next } = await session.page(SELECT, [int32(group), int64(noticed), kind], after);
      return { items: rows.map(({ kind, id }) => ({ kind, id })), next };
    },
  };
}

/** @typedef {ReturnType<typeof createOutboxStore>} OutboxStore */
