import { expect, test } from '@jest/globals';
import type { Json } from '../../support/json.ts';
import { useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();

async function ask(query: Record<string, string>): Promise<Json[]> {
  const response = await system.fetch(`/changes?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('GET /changes: a sample is committed while the reader waits: the answer has the sample', async () => {
  const [{ kind, cursor }] = await ask({ wait: '0' });
  expect(kind).toBe('position');
  const waiting = ask({ since: cursor, wait: '10' });
  await system.post('/measurements?device=desk', { sensor_id: 'temperature', value: 21.5 });
  let lines = await waiting;
  // If an hour closes now, its watermark comes first.
  while (lines.every(({ kind }) => kind === 'watermark'))
    lines = await ask({ since: lines.at(-1).cursor, wait: '10' });
  const change = lines.find(({ kind }) => kind === 'batch');
  expect(change).toMatchObject({
    kind: 'batch',
    device: 'desk',
    sensors: [{ sensor: 'temperature', samples: [[expect.any(Number), 21.5]] }],
  });
  // The reader has passed the sample, so the next answer begins after it.
  expect(await ask({ since: lines.at(-1).cursor, wait: '0' })).toEqual([
    { kind: 'position', cursor: expect.any(String) },
  ]);
});
