/**
 * The data of a request that the rules check. Requests of one kind make one record.
 *
 * @typedef {object} SentRecord
 * @property {string} application that sent it
 * @property {string} intended consistency level in its settings
 * @property {string[]} statements CQL, each once
 * @property {boolean} batch
 * @property {boolean} logged only for a batch
 * @property {boolean} prepared
 * @property {boolean} idempotent
 * @property {boolean} nulls a value is bound to null, which would be a tombstone
 * @property {number} page maximum number of rows in an answer; 0: all rows
 * @property {number} consistency level, as a number of the protocol
 * @property {number} serial consistency level of a lightweight transaction
 * @property {boolean} routed the driver knew the partition
 * @property {number} partitions number of partitions
 */

/** @import { SentRequest } from '../../../api/store/query-rule-tracker.js' */

/**
 * A row of a batch. `meta` is added by the driver (4.10) when it prepares the statement.
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
  meta ? [meta.keyspace, meta.table, ...meta.partitionKeys.map((i) => textOf(params[i]))].join(' ') : query;

/** @param {unknown} value */
const textOf = (value) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));
