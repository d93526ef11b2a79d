import { expect, test } from '@jest/globals';
import type { EventStream } from '../support/http/event-stream.ts';
import { send } from '../support/http/index.ts';
import { readMetric } from '../support/metrics.ts';
import { measure, received, sampleOf, useLiveProcesses } from '../support/processes/live.ts';
import { until } from '../support/until.ts';

const { left, right, ingest, follow, connectClient } = useLiveProcesses();

const newest = (stream: EventStream) => stream.events.findLast(({ event }) => event === 'stats')?.data;

test('Live changes: two HTTP processes: every reader of /stream gets every change of the sensors it selects', async () => {
  const client = await connectClient();
  await Promise.all(['a', 'b'].map((device) => measure(client, device, 0)));
  const fleets = await Promise.all([follow(left()), follow(right())]);
  const readers = await Promise.all([follow(left(), '?device=a'), follow(right(), '?sensor=a/s')]);

  for (let value = 1; value <= 20; value++) {
    await Promise.all(['a', 'b'].map((device) => measure(client, device, value)));
    const all = ['a', 'b'].map((device) => `${device} ${value}`);
    await until(() => fleets.every((fleet) => all.every((change) => received(fleet).has(change))));
    await until(() => readers.every((reader) => received(reader).has(`a ${value}`)));
  }
  for (const reader of readers)
    expect([...received(reader)].filter((change) => !change.startsWith('a '))).toEqual([]);

  // A reader of one process also receives the samples that the other process stores itself.
  await send(left().httpUrl, '/api/v1/measurements?device=a', { method: 'POST', body: sampleOf(21) });
  await until(() => [...fleets, ...readers].every((stream) => received(stream).has('a 21')));
});

test('Ingest figures: two HTTP processes: each returns the figures of all processes together', async () => {
  const client = await connectClient();
  const readers = await Promise.all([follow(left(), '?device=busy'), follow(right(), '?device=busy')]);
  let value = 0;
  await until(async () => {
    await measure(client, 'busy', value++);
    return readers.every((reader) => newest(reader).samples_per_s > 0);
  });
  await until(async () => {
    const windows = await Promise.all(
      [left(), right(), ingest()].map((api) => readMetric(api, 'iot_ingest_window')),
    );
    const sum = windows.reduce((total, window) => total + window, 0);
    return readers.every((reader) => newest(reader).window === sum);
  });
  for (const reader of readers)
    expect(newest(reader).commit_ms).toEqual({ p50: expect.any(Number), p99: expect.any(Number) });

  // A later client gets the earlier figures.
  for (const api of [left(), right()]) {
    const { items } = JSON.parse((await send(api.httpUrl, '/api/v1/pipeline/recent')).text);
    expect(items.some(({ samples_per_s }: { samples_per_s: number }) => samples_per_s > 0)).toBe(true);
  }
});
