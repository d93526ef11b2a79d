import { connectStore } from '../api/store/index.js';

/**
 * The tables, to be read by a command that nobody competes with.
 *
 * @param {import('../common/settings/index.js').Config} config
 * @returns {Promise<import('../api/store/index.js').Store>}
 * @throws {import('../common/errors.js').MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export const openStore = ({ cql, retention }) =>
  connectStore({
    cql,
    retention,
    observe: () => {},
    onStaleIndex: () => {},
  });
