import { expect, test } from '@jest/globals';
import { createScans } from '../../../api/store/index.ts';
import type { Session } from '../../../api/store/sending/session.ts';
import { DIALECTS } from '../../../schema/migrate/files.ts';

const SENSOR = { device: Buffer.alloc(16, 1), sensor: Buffer.alloc(16, 2) };

/** @returns the statements of all scans */
async function statementsOn(server: 'scylla' | 'cassandra'): Promise<string[]> {
  const sent: string[] = [];
  const session = {
    all: async ({ cql }: { cql: string }) => {
      sent.push(cql);
      return [];
    },
  } as unknown as Session;
  const { samples, packed } = createScans(session, DIALECTS[server]);
  await samples.readHour(SENSOR.device, SENSOR.sensor, 0);
  await packed.readSamples(SENSOR, 0, 3_600_000);
  await packed.readStatistics(SENSOR, 0, 3_600_000);
  return sent;
}

test('Reads of many rows: database is ScyllaDB: each SELECT ends with BYPASS CACHE', async () => {
  const sent = await statementsOn('scylla');
  expect(sent).toHaveLength(3);
  for (const cql of sent) expect(cql).toMatch(/^SELECT .* WHERE [^;]* \?( LIMIT \?)? BYPASS CACHE$/);
});

test('Reads of many rows: database is Cassandra: the same SELECT statements, without BYPASS CACHE', async () => {
  const sent = await statementsOn('cassandra');
  for (const cql of sent) expect(cql).not.toMatch(/BYPASS/);
  expect((await statementsOn('scylla')).map((cql) => cql.replace(' BYPASS CACHE', ''))).toEqual(sent);
});
