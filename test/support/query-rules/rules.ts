import cassandra from 'cassandra-driver';
import type { SentRecord } from './record.ts';
import type { WrittenStatement } from './statements.ts';

const { consistencies } = cassandra.types;

/** Applications that must follow the rules. Tests may query freely, and benchmarks compare other variants on purpose. */
const APPLICATIONS = ['millrace', 'millrace-migrate'];

const MAX_PAGE_ROWS = 10_000;

/** Partitions of a batch, with `LARGE_BATCHES` of `infra/engine`. Without them it has 10: `driver-rules.test.ts` counts them. */
const MAX_PARTITIONS = 64;

const DDL = /^\s*(CREATE|ALTER|DROP)\s/i;
const OF_ROLES = /^\s*LIST\s/i;
const OF_THE_SERVER = /\b(FROM|INTO|UPDATE)\s+system(_\w+)?\./i;
const LIGHTWEIGHT_TRANSACTION = /\bIF\s+(NOT\s+EXISTS|EXISTS|\w+\s*=)/i;

/** Only `migrate` changes the schema. `migrate` sends each statement as text. */
const migrates = ({ application, statements: [cql = ''] }: SentRecord) =>
  application === 'millrace-migrate' && (DDL.test(cql) || OF_THE_SERVER.test(cql));

const some = ({ statements }: SentRecord, pattern: RegExp) => statements.some((cql) => pattern.test(cql));

/** `hasDataCenters`: the database of the run has several data centers */
type Installation = { hasDataCenters?: boolean };

/** The rules for every request. Each rule is named by what it forbids, and finds its violations. */
const RULES: Record<string, (record: SentRecord, installation: Installation) => boolean> = {
  'not prepared': (record) => !record.prepared && !migrates(record),
  'not paged': (record) => !(record.page > 0 && record.page <= MAX_PAGE_ROWS),
  'ALLOW FILTERING': (record) => some(record, /\bALLOW\s+FILTERING\b/i),
  'not at the consistency level of CQL_CONSISTENCY': (
    { consistency, intended },
    { hasDataCenters = false },
  ) =>
    consistency !== consistencies[camelCase(intended)] &&
    !(hasDataCenters && consistency === consistencies.eachQuorum),
  'a lightweight transaction on which one data center agrees alone': (record) =>
    some(record, LIGHTWEIGHT_TRANSACTION) && record.serial !== consistencies.serial,
  'not idempotent': (record) =>
    !record.idempotent && !some(record, LIGHTWEIGHT_TRANSACTION) && !migrates(record),
  'sent to any node instead of a replica': (record) =>
    !record.routed && !some(record, OF_THE_SERVER) && !some(record, OF_ROLES) && !migrates(record),
  'a logged batch': (record) => record.logged,
  'a batch of more partitions than a Cassandra may allow': (record) => record.partitions > MAX_PARTITIONS,
  'a null, which is a tombstone': (record) => record.nulls,
  'a change of the schema': (record) => some(record, DDL) && !migrates(record),
};

export const violations = (records: SentRecord[], installation: Installation = {}): string[] =>
  records
    .filter(({ application }) => APPLICATIONS.includes(application))
    .flatMap((record) =>
      Object.entries(RULES)
        .filter(([, breaks]) => breaks(record, installation))
        .map(([rule]) => `${rule}: ${record.statements.join('; ')}`),
    );

/**
 * @returns sent statements that are in no source file, because code builds their text. Statements that change the schema or list roles
 * are excluded, because their names cannot be parameters
 */
export const unwritten = (records: SentRecord[], written: WrittenStatement[]): string[] =>
  [...sentBy(records)].filter(
    (cql) => !DDL.test(cql) && !OF_ROLES.test(cql) && !written.some(({ isSent }) => isSent(cql)),
  );

/** @returns statements that no process sent, so no rule was checked */
export function unsent(records: SentRecord[], written: WrittenStatement[]): string[] {
  const sent = [...sentBy(records)];
  return written.filter(({ isSent }) => !sent.some(isSent)).map(({ file, cql }) => `${file}: ${cql}`);
}

const sentBy = (records: SentRecord[]): Set<string> =>
  new Set(
    records
      .filter(({ application }) => APPLICATIONS.includes(application))
      .flatMap(({ statements }) => statements),
  );

/** @param name in CQL: LOCAL_QUORUM @returns in the driver: localQuorum */
const camelCase = (name: string): keyof typeof consistencies =>
  name.toLowerCase().replace(/_(\w)/g, (_, initial) => initial.toUpperCase()) as keyof typeof consistencies;
