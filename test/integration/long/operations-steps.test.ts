import { afterAll, expect, test } from '@jest/globals';
import { connect } from '../../../api/store/connect.ts';
import { createProcessStore } from '../../../api/store/processes.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { dropKeyspace } from '../../support/database/keyspace.ts';
import { startCommand } from '../../support/processes/api-process.ts';

// A step of restore-snapshot.sh runs against the database from this machine, with the settings of the application.

const settings = {
  CQL_CONTACT_POINTS: sharedContactPoint(),
  CQL_KEYSPACE: uniqueName('t'),
  LATEST_GROUPS: '4',
};
const config = readSettings(settings, { envFile: '' });
afterAll(() => dropKeyspace(config.cql));

const expectStopped = () => startCommand('infra/operations/expect-stopped.ts', settings).ended;

test('Operations step expect-stopped: fresh heartbeat of a process: it fails; old heartbeat or none: it succeeds', async () => {
  expect(await expectStopped()).toMatchObject({ code: 0, output: expect.stringContaining('No process') });
  await migrateDatabase(config);
  expect(await expectStopped()).toMatchObject({ code: 0, output: expect.stringContaining('No process') });

  const client = await connect(config.cql, { keyspace: settings.CQL_KEYSPACE, applicationName: 'test' });
  try {
    const store = createProcessStore(createSession(client, () => {}));
    const heartbeat = { role: 'ingest', version: 'test', startedAt: Date.now() - 3_600_000, stats: '{}' };
    await store.write({ ...heartbeat, clientId: 'died', seenAt: Date.now() - 600_000 });
    const stopped = await expectStopped();
    expect(stopped).toMatchObject({ code: 0, output: expect.stringMatching(/died \(\d{3} s ago\)/) });

    await store.write({ ...heartbeat, clientId: 'ingest-1', seenAt: Date.now() });
    const refused = await expectStopped();
    expect(refused).toMatchObject({ code: 1, output: expect.stringMatching(/run in .*: ingest-1 \(\d+ s/) });
    expect(refused.output).toContain(sharedContactPoint());
  } finally {
    await client.shutdown();
  }
});
