import { fileURLToPath } from 'node:url';
import { readRecords } from './recording.ts';
import { unsent, unwritten, violations } from './rules.ts';
import { statementsOf } from './statements.ts';

const folder = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/**
 * Checks the statements that the processes of a test run sent to their databases.
 * @param records folder of the records
 * @param run `complete`: all tests ran, so every statement of the store must have been sent; `hasDataCenters`: the database had several data centers
 * @returns `found`: a summary in one sentence; null: no statement was sent, as in unit tests
 */
export async function checkQueryRules(
  records: string,
  { complete, hasDataCenters }: { complete: boolean; hasDataCenters: boolean },
): Promise<{ found: string | null; problems: string[] }> {
  const { records: sent, processes } = await readRecords(records);
  if (sent.length === 0 && !complete) return { found: null, problems: [] };
  const store = statementsOf([folder('api/store'), folder('api/features')]);
  // The bench compares the store with other layouts of tables.
  const written = [...store, ...statementsOf([folder('schema/migrate'), folder('tools/bench/variants')])];
  const missing = unsent(sent, store);
  const problems = [
    ...violations(sent, { hasDataCenters }),
    ...unwritten(sent, written).map(
      (cql) =>
        `not in the sources of api/store, api/features, schema/migrate or tools/bench/variants: ${cql}`,
    ),
    ...(complete ? missing.map((statement) => `never sent by any test: ${statement}`) : []),
  ];
  const found = `${store.length - missing.length} of the ${store.length} statements of the API were sent, by ${processes} processes in ${sent.length} ways`;
  return { found, problems };
}
