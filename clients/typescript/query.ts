/** Prints the warmest hour of each device: `npm start`. */
import createClient from 'openapi-fetch';
import type { paths } from './millrace.js';

const { MILLRACE_URL = 'http://127.0.0.1:8080', MILLRACE_TOKEN = '' } = (
  globalThis as unknown as { process: { env: Record<string, string | undefined> } }
).process.env;
const headers = MILLRACE_TOKEN ? { Authorization: `Bearer ${MILLRACE_TOKEN}` } : {};
type Json = 'application/json' | 'application/problem+json';
const client = createClient<paths, Json>({ baseUrl: MILLRACE_URL, headers });

const { data, error } = await client.GET('/api/v1/query', {
  params: { query: { sensor: ['temperature'], from: '-1d', step: '1h', group: 'device' } },
});
if (error) throw new Error(`${error.code}: ${error.detail}`);

if ('series' in data) {
  for (const { device, avg = [] } of data.series) {
    const warmest = avg.reduce<number>(
      (best, value, index) => ((value ?? -Infinity) > (avg[best] ?? -Infinity) ? index : best),
      0,
    );
    console.log(device, data.times[warmest], avg[warmest]);
  }
}
