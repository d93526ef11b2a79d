/** Uses the types that openapi-typescript generates, and prints the results as JSON. The test sets `URL` and `TOKEN`. */
import createClient from 'openapi-fetch';
import type { components, paths } from './millrace.js';

const baseUrl = 'URL';
const headers = { Authorization: 'Bearer TOKEN' };
type Json = 'application/json' | 'application/problem+json';
const client = createClient<paths, Json>({ baseUrl, headers });

const hour = 3_600_000;
const start = Math.floor(Date.now() / hour) * hour - 2 * hour;
const query = { device: 'typescript' };
const path = { device: 'typescript', sensor: 'temperature' };
const range = { from: start, to: start + hour };
const route = '/api/v1/devices/{device}/sensors/{sensor}/measurements';

const plain = (minute: number, value: number): components['schemas']['PlainMeasurement'] => ({
  sensor_id: 'temperature',
  ts: new Date(start + minute * 60_000).toISOString(),
  value,
});

const post = async (body: components['schemas']['Measurements']) => {
  const { data, error } = await client.POST('/api/v1/measurements', { params: { query }, body });
  return data ?? error;
};

const posted = {
  object: await post(plain(0, 20.5)),
  array: await post([plain(1, 21.5), plain(2, 22.5)]),
  senml: await post([{ bn: 'temperature', bt: start / 1000, t: 180, v: 23.5 }]),
  refused: await post({ sensor_id: 'temperature', ts: 'yesterday', value: 1 }),
};

const devices = await client.GET('/api/v1/devices', { params: { query: { limit: 10 } } });
const missing = await client.GET('/api/v1/devices/{device}', { params: { path: { device: 'nowhere' } } });
const page = await client.GET(route, { params: { path, query: { ...range, limit: 3 } } });
const csv = await client.GET(route, {
  params: { path, query: { ...range, format: 'csv', order: 'asc' } },
  parseAs: 'text',
});
const latest = await client.GET('/api/v1/latest', { params: { query } });
const series = await client.GET('/api/v1/devices/{device}/sensors/{sensor}/series', {
  params: { path, query: { ...range, points: 1 } },
});

console.log(
  JSON.stringify({
    posted,
    devices: devices.data?.items.map(({ name }) => name),
    missing: missing.error?.code,
    page: page.data?.items.map(({ value }) => value),
    csv: csv.data,
    latest: latest.data?.items.map(({ name, value }) => [name, value]),
    series: series.data?.points,
    start: new Date(start).toISOString(),
  }),
);
