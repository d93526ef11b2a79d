import { afterAll, beforeAll } from '@jest/globals';
import type { Client, types } from 'cassandra-driver';
import { connect } from '../../../api/store/connect.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../clean-ups.ts';
import { startCommand } from '../processes/api-process.ts';
import { sharedContactPoint, uniqueName } from './engine.ts';
import { dropKeyspace } from './keyspace.ts';

type Settings = Record<string, string>;
type Script = 'api/index.ts' | 'api/commands/migrate.ts';

export const configOf = (settings: Settings) => readSettings(settings, { envFile: '' });

/**
 * Helpers for tests of migrations and starts: names of new keyspaces, the processes themselves, and queries of
 * the database. After each test its processes are killed, and its keyspaces are dropped.
 */
export function useMigrations() {
  const afterwards = useCleanUps();
  let admin: Client;
  beforeAll(async () => {
    const { cql } = configOf({ CQL_CONTACT_POINTS: sharedContactPoint() });
    admin = await connect(cql, { applicationName: 'test' });
  });
  afterAll(() => admin?.shutdown());

  const execute = (cql: string, parameters: unknown[] = []) =>
    admin.execute(cql, parameters, { prepare: false });

  function start(script: Script, settings: Settings) {
    const command = startCommand(script, settings);
    afterwards(() => command.kill());
    return command;
  }

  return {
    afterwards,
    execute,
    admin: () => admin,

    fresh(others?: Settings) {
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

    run: (script: Script, settings: Settings) => start(script, settings).ended,

    async tablesOf(keyspace: string): Promise<Record<string, TableOptions>> {
      const { rows } = await execute(
        'SELECT table_name, default_time_to_live AS ttl, gc_grace_seconds AS grace, compaction FROM system_schema.tables WHERE keyspace_name = ?',
        [keyspace],
      );
      return Object.fromEntries(rows.map((row) => [row['table_name'], optionsOf(row)]));
    },

    async versionsOf(keyspace: string): Promise<number[]> {
      const { rows } = await execute(`SELECT version FROM ${keyspace}.schema_version`);
      return rows.map(({ version }) => version);
    },
  };
}

interface TableOptions {
  /** s */
  ttl: number;
  /** s */
  grace: number;
  /** of compaction */
  strategy: string;
  window: string;
}

const optionsOf = ({ ttl, grace, compaction }: types.Row): TableOptions => ({
  ttl,
  grace,
  strategy: compaction.class.split('.').at(-1),
  window: `${compaction.compaction_window_size} ${compaction.compaction_window_unit}`,
});
