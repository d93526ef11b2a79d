import { expect, test } from '@jest/globals';
import pino from 'pino';
import { createDeadLetterBox, DeadLetterQuota } from '../../api/ingest/dead-letter-box.ts';
import { RefusalNotices } from '../../api/ingest/refusal-notices.ts';
import { Registry } from '../../api/ingest/registry/index.ts';
import { createMetrics } from '../../api/observability/metrics.ts';
import { Retry } from '../../api/store/sending/retry.ts';
import { type Identity, identifyDevice } from '../../schema/ids.ts';
import { readDeadLetters } from '../support/dead-letters.ts';
import { useStore, useTestSystem } from '../support/system/use.ts';

const system = useTestSystem();
const store = useStore(system);

test('Quota of dead letters: unknown devices share one quota; a registered device has its own', async () => {
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });
  const registry = new Registry({
    store: store.write.registry,
    groups: system.config.retention.latestGroups,
    limits: { autoRegister: true, autoRegisterMax: 10 },
    retry,
    clock: Date.now,
  });
  const limits = { perDevice: 1, unregistered: 2, total: 100, counting: 100 };
  const box = createDeadLetterBox({
    store: store.deadLetters,
    registry,
    retry,
    notices: new RefusalNotices({ logger: pino({ level: 'silent' }) }),
    metrics: createMetrics({ version: 'test', role: 'all' }),
    clock: Date.now,
    quota: new DeadLetterQuota({ limits }),
  });
  await registry.device(identifyDevice('known') as Identity);

  let receivedAt = Date.now();
  // The last two names are invalid.
  for (const name of ['x', 'y', 'known', 'known', '\u0007', 'z'.repeat(60_000)]) {
    const message = { topic: `iot/v1/${name}/measurements`, payload: Buffer.from('{'), retained: false };
    await box.put({ ...message, receivedAt: receivedAt++ }, name, [{ index: -1, code: 'malformed' }]);
  }
  const deadLetters = await readDeadLetters(system);
  expect(deadLetters.map(({ device, refused, codes }) => [device, refused.length, codes])).toEqual([
    ['x', 1, { malformed: 1 }],
    ['y', 1, { malformed: 1 }],
    ['known', 1, { malformed: 1 }],
    ['known', 0, { malformed: 1 }],
    [null, 0, { malformed: 1 }],
  ]);
});
