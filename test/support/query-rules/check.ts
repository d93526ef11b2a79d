import { fileURLToPath } from 'node:url';
import { readRecords } from './recording.js';
import { unsent, unwritten, violations } from './rules.js';
import { statementsOf } from './statements.js';

const folder = (/** @type {string} */ name) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/**
 * Checks the statements that the processes of a test run sent to their databases.
 *
 * @param {string} records folder of the records
 * @param {{ complete: boolean }} run `complete`: all tests ran, so every statement of the store must have been sent
 * @returns {Promise<{ found: string, problems: string[] }>} `found`: a summary in one sentence
 */
export async function checkQueryRules(records, { complete }) {
  const { records: sent, processes } = await readRecords(records);
  const store = statementsOf([folder('api/store')]);
  // The bench compares the store with other layouts of tables.
  const written = [...store, ...statementsOf([folder('schema/migrate'), folder('tools/bench/variants')])];
  const missing = unsent(sent, store);
  const problems = [
    ...violations(sent),
    ...unwritten(sent, written).map(
      (cql) => `not in the sources of api/store, schema/migrate or tools/bench/variants: ${cql}`,
    ),
    ...(complete ? missing.map((statement) => `never sent by any test: ${statement}`) : []),
  ];
  const found = `${store.length - missing.length} of the ${store.length} statements of api/store were sent, by ${processes} processes in ${sent.length} ways`;
  return { found, problems };
}
