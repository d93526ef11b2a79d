import { fileURLToPath } from 'node:url';
import { readRecords } from './recording.js';
import { unsent, unwritten, violations } from './rules.js';
import { statementsOf } from './statements.js';

const folder = (/** @type {string} */ name) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/**
 * Holds what the processes of a test run sent to their databases against the rules.
 *
 * @param {string} records folder of the records
 * @param {{ complete: boolean }} run `complete`: it had all tests, so every statement of the store must be among what was sent
 * @returns {Promise<{ found: string, problems: string[] }>} `found`: what was looked at, in a sentence
 */
export async function checkQueryRules(records, { complete }) {
  const { records: sent, processes } = await readRecords(records);
  const store = statementsOf([folder('api/store')]);
  const written = [...store, ...statementsOf([folder('schema/migrate')])];
  const missing = unsent(sent, store);
  const problems = [
    ...violations(sent),
    ...unwritten(sent, written).map((cql) => `not written down in api/store or schema/migrate: ${cql}`),
    ...(complete ? missing.map((statement) => `never sent by any test: ${statement}`) : []),
  ];
  const found = `${store.length - missing.length} of the ${store.length} statements of api/store were sent, by ${processes} processes in ${sent.length} ways`;
  return { found, problems };
}
