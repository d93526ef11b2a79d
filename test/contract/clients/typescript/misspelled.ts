/** One misspelled name in each statement. The compiler must refuse all of them. */
import createClient from 'openapi-fetch';
import type { paths } from './millrace.js';

const client = createClient<paths>({ baseUrl: 'URL' });
const query = { device: 'typescript' };
const sensor = { device: 'typescript', sensor: 'temperature' };

await client.GET('/api/v1/device');
await client.GET('/api/v1/devices', { params: { query: { limits: 10 } } });
await client.GET('/api/v1/devices/{device}/sensors/{sensor}/measurements', {
  params: { path: sensor, query: { format: 'cvs' } },
});
await client.POST('/api/v1/measurements', {
  params: { query },
  body: { sensor_id: 'temperature', valeu: 1 },
});
await client.POST('/api/v1/measurements', {
  params: { query },
  body: [{ sensor_id: 'temperature', value: 1, tss: 1 }],
});
await client.POST('/api/v1/measurements', { params: { query }, body: [{ n: 'temperature', v: 1, tt: 1 }] });
(await client.GET('/api/v1/latest')).data?.item;
(await client.GET('/api/v1/latest')).error?.cod;
