import { expect, test } from '@jest/globals';
import pino from 'pino';
import { firstSightFeature } from '../../../api/features/first-sight/index.ts';
import { createContext } from '../../../api/observability/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startReceiver } from '../../support/http/webhook-receiver.ts';
import { NO_ENV_FILE } from '../../support/settings.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';
import { until } from '../../support/until.ts';

const afterwards = useCleanUps();

test('First sight: one device sends twice, another one a birth: each is posted once', async () => {
  const receiver = await startReceiver();
  afterwards(() => receiver.stop());
  const config = readSettings({ FIRST_SIGHT_URL: receiver.url }, { envFile: NO_ENV_FILE });
  const context = createContext({ config, version: 'test', logger: pino({ level: 'silent' }) });
  const { onRegistered, stop } = await firstSightFeature.create({ context } as never);
  afterwards(() => stop?.());
  const pipeline = await startMemoryPipeline({ onRegistered });
  afterwards(() => pipeline.stop());
  receiver.become('fails');
  for (const value of [1, 2]) await pipeline.measure('pump', [{ sensor_id: 't', value }]);
  await until(() => receiver.refused() === 1);
  receiver.become('takes');
  await pipeline.accept('iot/v1/fan/birth', JSON.stringify({ site: 'hall', sensors: [] }));
  await until(() => receiver.received.length === 2);
  const bodies = receiver.received.map(({ body }) => JSON.parse(body));
  // The second attempt of the first post may end before or after the other post.
  expect(bodies.map(({ device, site }) => `${device} in ${site}`).sort()).toEqual([
    'fan in hall',
    'pump in null',
  ]);
});
