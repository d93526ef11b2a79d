import cassandra from 'cassandra-driver';

/** @import { SentRecord } from './record.js' */
/** @import { WrittenStatement } from './statements.js' */

const { consistencies } = cassandra.types;

/** Applications that must follow the rules. Tests may query freely, and benchmarks compare other variants on purpose. */
const APPLICATIONS = ['millrace', 'millrace-migrate'];

/** Limit for the rows of a page. */
const MAX_PAGE_ROWS = 10_000;

/** Partitions of a batch, with `LARGE_BATCHES` of `infra/engine`. Without them it has 10: `driver-rules.test.js` counts them. */
const MAX_PARTITIONS = 64;

const DDL = /^\s*(CREATE|ALTER|DROP)\s/i;
const OF_ROLES = /^\s*LIST\s/i;
const OF_THE_SERVER = /\b(FROM|INTO|UPDATE)\s+system(_\w+)?\./i;
const LIGHTWEIGHT_TRANSACTION = /\bIF\s+(NOT\s+EXISTS|EXISTS|\w+\s*=)/i;

/** Only `migrate` changes the schema. `migrate` sends each statement as text. @param {SentRecord} record */
const migrates = ({ application, statements: [cql = ''] }) =>
  application === 'millrace-migrate' && (DDL.test(cql) || OF_THE_SERVER.test(cql));

/** @param {SentRecord} record @param {RegExp} pattern */
const some = ({ statements }, pattern) => statements.some((cql) => pattern.test(cql));

/**
 * The rules for every request. Each rule is named by what it forbids, and finds its violations.
 *
 * @type {Record<string, (record: SentRecord) => boolean>}
 */
const RULES = {
  'not prepared': (record) => !record.prepared && !migrates(record),
  'not paged': (record) => !(record.page > 0 && record.page <= MAX_PAGE_ROWS),
  'ALLOW FILTERING': (record) => some(record, /\bALLOW\s+FILTERING\b/i),
  'not at the consistency level of CQL_CONSISTENCY': (record) =>
    record.consistency !== consistencies[camelCase(record.intended)],
  'a lightweight transaction beyond the data center': (record) =>
    some(record, LIGHTWEIGHT_TRANSACTION) && record.serial !== consistencies.localSerial,
  'not idempotent': (record) =>
    !record.idempotent && !some(record, LIGHTWEIGHT_TRANSACTION) && !migrates(record),
  'sent to any node instead of a replica': (record) =>
    !record.routed && !some(record, OF_THE_SERVER) && !some(record, OF_ROLES) && !migrates(record),
  'a logged batch': (record) => record.logged,
  'a batch of more partitions than a Cassandra may allow': (record) => record.partitions > MAX_PARTITIONS,
  'a null, which is a tombstone': (record) => record.nulls,
  'a change of the schema': (record) => some(record, DDL) && !migrates(record),
};

/**
 * @param {SentRecord[]} records
 * @returns {string[]} a sentence for each rule that a request of the application breaks
 */
export const violations = (records) =>
  records
    .filter(({ application }) => APPLICATIONS.includes(application))
    .flatMap((record) =>
      Object.entries(RULES)
        .filter(([, breaks]) => breaks(record))
        .map(([rule]) => `${rule}: ${record.statements.join('; ')}`),
    );

/**
 * @param {SentRecord[]} records
 * @param {WrittenStatement[]} written
 * @returns {string[]} sent statements that are in no source file, because code builds their text. Statements that change the schema or
 *   list roles are excluded, because their names cannot be parameters
 */
export const unwritten = (records, written) =>
  [...sentBy(records)].filter(
    (cql) => !DDL.test(cql) && !OF_ROLES.test(cql) && !written.some(({ isSent }) => isSent(cql)),
  );

/**
 * @param {SentRecord[]} records
 * @param {WrittenStatement[]} written
 * @returns {string[]} statements that no process sent, so no rule was checked
 */
export function unsent(records, written) {
  const sent = [...sentBy(records)];
  return written.filter(({ isSent }) => !sent.some(isSent)).map(({ file, cql }) => `${file}: ${cql}`);
}

/** @param {SentRecord[]} records @returns {Set<string>} */
const sentBy = (records) =>
  new Set(
    records
      .filter(({ application }) => APPLICATIONS.includes(application))
      .flatMap(({ statements }) => statements),
  );

/** @param {string} name in CQL: LOCAL_QUORUM @returns {keyof typeof consistencies} in the driver: localQuorum */
const camelCase = (name) =>
  /** @type {keyof typeof consistencies} */ (
    name.toLowerCase().replace(/_(\w)/g, (_, initial) => initial.toUpperCase())
  );
