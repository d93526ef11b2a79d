import { expect, test } from '@jest/globals';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { dropKeyspace } from '../../support/database/keyspace.ts';
import { startApi } from '../../support/processes/api-process.ts';

const afterwards = useCleanUps();

test.each(['SIGTERM', 'SIGINT'] as const)(
  'API process: receives %s: logs stopping with the signal and later stopped, and exits with code 0',
  async (signal) => {
    const settings = {
      CQL_CONTACT_POINTS: sharedContactPoint(),
      CQL_KEYSPACE: uniqueName('t'),
      HTTP_PORT: '0',
      MQTT_PORT: '0',
    };
    const config = readSettings(settings, { envFile: '' });
    await migrateDatabase(config);
    afterwards(() => dropKeyspace(config.cql));
    const api = await startApi(settings);
    afterwards(() => api.kill());
    api.signal(signal);
    const { code, output } = await api.ended;
    expect(code).toBe(0);
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => ['stopping', 'stopped'].includes(msg));
    expect(lines).toMatchObject([{ msg: 'stopping', signal }, { msg: 'stopped' }]);
  },
);
