import { createAccess, invalid } from './access.ts';
import { parse, type Statement } from './cql.ts';
import { createSelect } from './select.ts';
import type { Table } from './tables.ts';
import { createWrites } from './writes.ts';

type Answer = Record<string, unknown>;
type Result = {
  rows: Answer[];
  rowLength: number;
  pageState: string | undefined;
  first: () => Answer | null;
};
type Query = { query: string; params: unknown[] };

interface Request {
  table: string;
  kind: Statement['kind'];
  /** one query, or those of a batch */
  queries: Query[];
}

/**
 * Makes a database in memory of one node, with the cell rules of Cassandra. The greater write timestamp wins, then the greater
 * bytes. A row exists as long as one of its cells does. Cells with a TTL expire by the given clock. It knows the statements of
 * `api/store` and of tests.
 */
export function createDatabase({
  tables,
  clock,
  around = (_request, run) => run(),
}: {
  tables: Map<string, Table>;
  /** epoch ms */
  clock: () => number;
  /** sees each request, and may delay or fail it, before it is applied or after */
  around?: (request: Request, run: () => Promise<Result>) => Promise<Result>;
}) {
  const statements: Map<string, Statement> = new Map();
  let lastStamp = 0;

  /** The driver gives each request a later write timestamp. @returns epoch µs */
  function nextStamp(): number {
    lastStamp = Math.max(lastStamp + 1, clock() * 1000);
    return lastStamp;
  }

  const access = createAccess({ tables, clock });
  const { write, transact } = createWrites(access, nextStamp);
  const select = createSelect(access, clock);

  function statementOf(cql: string) {
    let statement = statements.get(cql);
    if (!statement) {
      statement = parse(cql);
      statements.set(cql, statement);
    }
    return statement;
  }

  function apply(queries: Query[], options: { fetchSize?: number; pageState?: string }): Result {
    const stamp = nextStamp();
    let result: Result = resultOf([]);
    for (const { query, params } of queries) {
      const statement = statementOf(query);
      if (statement.kind === 'select') {
        const { rows, next } = select(statement, params, options);
        result = resultOf(rows, next);
      } else if (statement.kind === 'truncate') access.truncate(statement.table);
      else if (statement.conditions || statement.exists !== null)
        result = resultOf([transact(statement, params)]);
      else write(statement, params, stamp);
    }
    return result;
  }

  async function request(queries: Query[], options: object = {}) {
    const [first] = queries;
    if (!first) throw invalid('an empty batch');
    const { table, kind } = statementOf(first.query);
    return around({ table, kind, queries }, async () => apply(queries, options));
  }

  return {
    /** Executes a query as the client of the driver does. */
    execute: (query: string, params: unknown[] = [], options?: object) =>
      request([{ query, params }], options),

    batch: (queries: Query[], _options?: object) => request(queries),

    async shutdown() {},
  };
}

const resultOf = (rows: Answer[], pageState?: string): Result => ({
  rows,
  rowLength: rows.length,
  pageState,
  first: () => rows[0] ?? null,
});
