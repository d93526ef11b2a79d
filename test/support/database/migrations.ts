import { afterAll, beforeAll } from '@jest/globals';
import { connect } from '../../../api/store/connect.js';
import { readSettings } from '../../../common/settings/index.js';
import { useCleanUps } from '../clean-ups.js';
import { startCommand } from '../processes/api-process.js';
import { sharedContactPoint, uniqueName } from './engine.js';
import { dropKeyspace } from './keyspace.js';

/** @import { Client, types } from 'cassandra-driver' */

/** @typedef {Record<string, string>} Settings */
/** @typedef {'api/index.js' | 'api/commands/migrate.js'} Script */

/** @param {Settings} settings */
export const configOf = (settings) => readSettings(settings, { envFile: '' });

/**
 * Helpers for tests of migrations and starts: names of new keyspaces, the processes themselves, and queries of
 * the database. After each test its processes are killed, and its keyspaces are dropped.
 */
export function useMigrations() {
  const afterwards = useCleanUps();
  /** @type {Client} */
  let admin;
  beforeAll(async () => {
    const { cql } = configOf({ CQL_CONTACT_POINTS: sharedContactPoint() });
    admin = await connect(cql, { applicationName: 'test' });
  });
  afterAll(() => admin?.shutdown());

  /** @param {string} cql @param {unknown[]} [parameters] */
  const execute = (cql, parameters = []) => admin.execute(cql, parameters, { prepare: false });

  /** @param {Script} script @param {Settings} settings */
  function start(script, settings) {
    const command = startCommand(script, settings);
    afterwards(() => command.kill());
    return command;
  }

  return {
    afterwards,
    execute,
    admin: () => admin,

    /** Returns settings with a new keyspace. @param {Settings} [others] */
    fresh(others) {
      const settings = {
        CQL_CONTACT_POINTS: sharedContactPoint(),
        CQL_KEYSPACE: uniqueName('t'),
        HTTP_PORT: '0',
        MQTT_PORT: '0',
        LOG_LEVEL: 'warn',
      };
      const { cql } = configOf(settings);
      afterwards(() => dropKeyspace(cql));
      return { ...settings, ...others };
    },

    start,

    /** @param {Script} script @param {Settings} settings */
    run: (script, settings) => start(script, settings).ended,

    /** @param {string} keyspace @returns {Promise<Record<string, TableOptions>>} by table */
    async tablesOf(keyspace) {
      const { rows } = await execute(
        'SELECT table_name, default_time_to_live AS ttl, gc_grace_seconds AS grace, compaction FROM system_schema.tables WHERE keyspace_name = ?',
        [keyspace],
      );
      return Object.fromEntries(rows.map((row) => [row['table_name'], optionsOf(row)]));
    },

    /** @param {string} keyspace @returns {Promise<number[]>} */
    async versionsOf(keyspace) {
      const { rows } = await execute(`SELECT version FROM ${keyspace}.schema_version`);
      return rows.map(({ version }) => version);
    },
  };
}

/**
 * @typedef {object} TableOptions
 * @property {number} ttl s
 * @property {number} grace s
 * @property {string} strategy of compaction
 * @property {string} window of it
 */

/** @param {types.Row} row @returns {TableOptions} */
const optionsOf = ({ ttl, grace, compaction }) => ({
  ttl,
  grace,
  strategy: compaction.class.split('.').at(-1),
  window: `${compaction.compaction_window_size} ${compaction.compaction_window_unit}`,
});
