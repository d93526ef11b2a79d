import { connectStore } from '../../api/store/index.js';

/** @import { Store } from '../../api/store/index.js' */
/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */

/**
 * The tables, to be read by a command that nobody competes with.
 *
 * @param {Config} config
 * @returns {Promise<Store>}
 * @throws {MillraceError} `database_away`, `bad_settings`, `schema_differs`
 */
export const openStore = ({ cql, retention }) =>
  connectStore({
    cql,
    retention,
    observe: () => {},
    onStaleIndex: () => {},
  });
