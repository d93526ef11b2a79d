import type { SentRequest } from '../../../api/store/driver-policies.ts';

export interface SentRecord {
  /** that sent it */
  application: string;
  /** consistency level in its settings */
  intended: string;
  /** CQL, each once */
  statements: string[];
  batch: boolean;
  /** only for a batch */
  logged: boolean;
  prepared: boolean;
  idempotent: boolean;
  /** a value is bound to null, which would be a tombstone */
  nulls: boolean;
  /** maximum number of rows in an answer; 0: all rows */
  page: number;
  /** level, as a number of the protocol */
  consistency: number;
  /** consistency level of a lightweight transaction */
  serial: number;
  /** the driver knew the partition */
  routed: boolean;
  partitions: number;
}

/** A row of a batch. `meta` is added by the driver (4.10) when it prepares the statement. */
type BatchRow = {
  query: string;
  params?: unknown[];
  meta?: { keyspace: string; table: string; partitionKeys: number[] };
};

export function recordOf({ application, intended, query, parameters, options }: SentRequest): SentRecord {
  const batch = Array.isArray(query);
  const rows = (batch ? query : [{ query, params: parameters ?? [] }]) as BatchRow[];
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

const partitionOf = ({ query, params = [], meta }: BatchRow): string =>
  meta ? [meta.keyspace, meta.table, ...meta.partitionKeys.map((i) => textOf(params[i]))].join(' ') : query;

const textOf = (value: unknown) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));
