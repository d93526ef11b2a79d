import { migrateDatabase } from '../../../api/store/migrate.js';
import { readSettings } from '../../../common/settings/index.js';
import { HOUR_ROW_TABLE, ROW_TABLE } from '../variants/row-writes.js';
import { createTables } from '../variants/tables.js';
import { TUTORIAL_TABLE } from '../variants/tutorial-writes.js';

/** @import { Database } from './database.js' */

/**
 * Tables of its own for each variant.
 *
 * @param {Database} database
 * @param {string} prefix of the keyspaces
 */
export const createKeyspaces = ({ contactPoint }, prefix) => ({
  /** @param {string} name @param {string} [broker] URL @returns {NodeJS.ProcessEnv} settings of its processes */
  settings: (name, broker) => ({
    CQL_CONTACT_POINTS: contactPoint,
    CQL_LOCAL_DC: 'datacenter1',
    CQL_KEYSPACE: `${prefix}_${name.replaceAll(/\W/g, '_')}`,
    MQTT_CLIENT_ID: `bench-${name}`,
    MQTT_URL: broker,
  }),

  /**
   * Makes the keyspace where it is not there yet, with the tables of the baselines as well.
   *
   * @param {NodeJS.ProcessEnv} settings
   */
  async migrate(settings) {
    const config = readSettings(settings, { envFile: '' });
    await migrateDatabase(config);
    await createTables(config, [ROW_TABLE, HOUR_ROW_TABLE, TUTORIAL_TABLE]);
    return config;
  },
});
