import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import express from 'express';
import type { Formats } from '../../../../api/feature.ts';
import { FORMATS } from '../../../../api/features/export/formats.ts';
import { listSensors, readSensors } from '../../../../api/features/shared/columns/index.ts';
import { createReading } from '../../../../api/history/reading/index.ts';
import { createCursors } from '../../../../api/http/cursor.ts';
import { getMeasurements, getSeries } from '../../../../api/http/routes/measurements.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { HeldWrites } from '../../../support/database/held-writes.ts';
import { listening } from '../../../support/http/listening.ts';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.ts';
import { until } from '../../../support/until.ts';

const NOW = Date.UTC(2026, 10, 25, 12, 30);
const clock = () => NOW;
const cleanUp = useCleanUps();

test('Newest samples: samples are committed and latest is not yet written: pages, files, series and exports end alike', async () => {
  const writes = new HeldWrites();
  const pipeline = await startMemoryPipeline({ clock, writes });
  const { store } = pipeline;
  cleanUp(pipeline.stop);
  await pipeline.measure('oven', [{ sensor_id: 's', ts: NOW - 20_000, value: 1 }]);
  const held = writes.hold({ write: 'write_latest' });
  const stored = pipeline.measure('oven', [{ sensor_id: 's', ts: NOW - 10_000, value: 2 }]);
  await held.reached();
  await until(async () => (await pipeline.samples('oven', 's', NOW - 60_000)).length === 2);

  const reading = createReading(store);
  const free = { acquire: () => () => {} };
  const points = (_res: unknown, work: () => Promise<void>) => work();
  const limits = { exports: free, series: free, points };
  const cursors = createCursors({ secret: 'a secret', clock });
  const config = { retention: { historyDays: 365 }, ingest: { maxClockSkewMs: 0 } };
  // The database in memory does not know the statement of `latestOfSensors`.
  const fleet = { latestOfSensors: () => store.devices.sensors(pipeline.keyOf('oven')) };
  const deps = {
    store: { ...store, fleet },
    reading,
    http: { limits, cursors },
    context: { clock, config },
    exportedSamples: { inc() {} },
  } as never;
  const app = express();
  const measurements = FORMATS['listMeasurements'] as Formats<never>;
  app.get('/:device/:sensor/measurements', measurements.handler(deps, getMeasurements(deps)));
  app.get('/:device/:sensor/series', getSeries(deps));
  const server = createServer(app);
  cleanUp(() => server.close());
  const base = `http://127.0.0.1:${await listening(server)}/oven/s`;
  const get = async (path: string) => (await fetch(`${base}/${path}`)).text();

  expect(JSON.parse(await get('measurements'))).toMatchObject({ items: [{ value: 2 }, { value: 1 }] });
  expect((await get('measurements?format=csv')).split('\n')).toHaveLength(4);
  const from = new Date(NOW - 60_000).toISOString();
  expect(JSON.parse(await get(`series?from=${from}&points=1`))).toMatchObject({ points: [{ count: 2 }] });
  const range = { from: NOW - 60_000, to: NOW };
  const exported = [];
  const signal = new AbortController().signal;
  for await (const { values, from, to } of readSensors(reading, listSensors(store, 4, {}), range, signal))
    exported.push(...values.slice(from, to));
  expect(exported).toEqual([1, 2]);
  await held.release();
  await stored;
});
