import { once } from 'node:events';
import { get } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { sendSensor } from '../../../../api/features/export/samples.ts';
import { createConcurrencyLimit } from '../../../../api/http/long-requests.ts';
import { createHttpServer } from '../../../../api/http/server.ts';
import { createMetrics } from '../../../../api/observability/metrics.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { until } from '../../../support/until.ts';

let server: ReturnType<typeof createHttpServer>;
afterEach(() => server.stop());

/** Serves an export that never ends. */
async function serve({ stallMs = 86_400_000 }: { stallMs?: number } = {}) {
  const state = { ended: false };
  async function* all() {
    try {
      for (let hour = 0; ; hour++) {
        const times = Array.from({ length: 3600 }, (_, second) => hour * HOUR_MS + second * 1000);
        yield { times, values: times };
      }
    } finally {
      state.ended = true;
    }
  }
  const limit = createConcurrencyLimit(1, 'full');
  const metrics = createMetrics({ version: 'test', role: 'http' });
  const app = express();
  app.get('/', (req, res) =>
    sendSensor(
      { reading: { all }, http: { limits: { exports: limit } }, exportedSamples: { inc() {} } },
      req,
      res,
      {
        type: 'text/csv',
        sensor: {
          key: { group: 0, device: Buffer.alloc(16), sensor: Buffer.alloc(16) },
          deviceId: 'd',
          sensorId: 's',
          row: { deviceName: 'export', name: null, type: null, unit: null, site: null },
        },
        range: { from: 0, to: Number.MAX_SAFE_INTEGER },
        order: 'asc',
      },
    ),
  );
  server = createHttpServer({
    app,
    host: '127.0.0.1',
    port: 0,
    stopStreams() {},
    requestMs: 30_000,
    stallMs,
    metrics,
  });
  await server.start();
  const url = `http://127.0.0.1:${server.port}`;
  const [response] = await once(get(url, { agent: false }), 'response');
  return { response, state, url };
}

test('Export: the client reads nothing: its connection is closed, and the query stops', async () => {
  const { response, state } = await serve({ stallMs: 200 });
  response.on('error', () => {});
  expect(response.statusCode).toBe(200);
  await until(() => state.ended);
  response.destroy();
});
