import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { uuidText } from '../../../../schema/ids.ts';
import { useDirectory } from '../../../support/directory.ts';
import { type MemoryPipeline, startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';

const NOW = Date.UTC(2026, 4, 5, 12);

const directory = useDirectory('receipts');
const MQTT_MAPPINGS = join(directory, 'mappings.yaml');
writeFileSync(
  MQTT_MAPPINGS,
  "mappings:\n  - { name: farm, topic: 'farm/{device}/{sensor}', values: [{ pointer: '' }] }\n",
);

let pipeline: MemoryPipeline;
afterEach(() => pipeline?.stop());

async function start(settings?: Record<string, string>) {
  pipeline = await startMemoryPipeline({ settings: { MQTT_MAPPINGS, ...settings }, clock: () => NOW });
}

test('Messages of a device in one ms without a timestamp: received on a mapped topic: all values are stored', async () => {
  await start();
  for (const value of ['1', '2.5', '3']) await pipeline.accept('farm/d/s', value);
  expect((await pipeline.samples('d', 's', NOW)).map(([, value]) => value)).toEqual([1, 2.5, 3]);
});

test('Dead letters of messages in one ms without a timestamp on a mapped topic: replays store all values, each once', async () => {
  await start({ AUTO_REGISTER: 'false' });
  for (const value of ['1', '2', '3']) await pipeline.accept('farm/d/s', value);
  await pipeline.accept('iot/v1/d/birth', `{"session":${NOW},"sensors":[{"sensor_id":"s"}]}`);
  const range = { from: NOW - 5000, to: NOW + 5000 };
  const { deadLetters } = await pipeline.store.deadLetters.page(range, { before: null, limit: 10 });
  for (let round = 0; round < 2; round++) {
    for (const { id } of deadLetters) {
      const stored = await pipeline.store.deadLetters.find(uuidText(id));
      await pipeline.ingest.replay(stored as never);
    }
  }
  expect(await pipeline.samples('d', 's', NOW)).toEqual([
    [NOW, 1],
    [NOW + 1, 2],
    [NOW + 2, 3],
  ]);
});
