/**
 * What is known of a request when it is held against the rules; requests of one kind make one record.
 *
 * @typedef {object} SentRecord
 * @property {string} application who sent it
 * @property {string} intended consistency level that its settings ask for
 * @property {string[]} statements CQL, each once
 * @property {boolean} batch
 * @property {boolean} logged of a batch
 * @property {boolean} prepared
 * @property {boolean} idempotent
 * @property {boolean} nulls something is bound to null, which would be a tombstone
 * @property {number} page rows that an answer has, at most; 0: all that there are
 * @property {number} consistency level, as protocol and driver count them
 * @property {number} serial of a lightweight transaction
 * @property {boolean} routed the driver knew the partition
 * @property {number} partitions that it goes to
 */

/** @import { SentRequest } from '../../../api/store/tracker.js' */

/**
 * A row of a batch; `meta` is what the driver (4.10) keeps beside it when it is prepared.
 *
 * @typedef {{ query: string, params?: unknown[], meta?: { keyspace: string, table: string, partitionKeys: number[] } }} BatchRow
 */

/** @param {SentRequest} request @returns {SentRecord} */
export function recordOf({ application, intended, query, parameters, options }) {
  const batch = Array.isArray(query);
  const rows = /** @type {BatchRow[]} */ (batch ? query : [{ query, params: parameters ?? [] }]);
  return {
    application,
    intended,
    statements: [...new Set(rows.map((row) => row.query))].sort(),
    batch,
    logged: batch && options.isBatchLogged(),
    prepared: options.isPrepared() === true && (!batch || rows.every(({ meta }) => meta)),
    idempotent: options.isIdempotent() === true,
    nulls: rows.some(({ params }) => Object.values(params ?? {}).includes(null)),
    page: options.isAutoPage() ? 0 : (options.getFetchSize() ?? 0),
    consistency: options.getConsistency(),
    serial: options.getSerialConsistency(),
    routed: Boolean(options.getRoutingKey()?.length),
    partitions: batch ? new Set(rows.map(partitionOf)).size : 1,
  };
}

/** @param {BatchRow} row @returns {string} */
const partitionOf = ({ query, params = [], meta }) =>
  meta ? [meta.keyspace, meta.table, ...meta.partitionKeys.map((at) => textOf(params[at]))].join(' ') : query;

/** @param {unknown} value */
const textOf = (value) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));
