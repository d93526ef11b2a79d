/**
 * One misspelled name in each of the last lines. The compiler must refuse all of them. Bodies have their type: in a literal within a
 * call openapi-fetch accepts members that the type does not have.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './millrace.js';

type Body = components['schemas']['Measurements'];
const client = createClient<paths>({ baseUrl: 'URL' });
const query = { device: 'typescript' };
const latest = await client.GET('/api/v1/latest');

// Wrong from here on.
export const object: Body = { sensor_id: 'temperature', valeu: 1 };
export const array: Body = [{ sensor_id: 'temperature', valeu: 1 }];
export const optional: Body = [{ sensor_id: 'temperature', value: 1, tss: 1 }];
export const senml: Body = [{ n: 'temperature', v: 1, tt: 1 }];
await client.GET('/api/v1/device');
await client.GET('/api/v1/devices', { params: { query: { limits: 10 } } });
await client.GET('/api/v1/devices', { params: { query: { state: 'onlin' } } });
await client.POST('/api/v1/measurements', { params: { query }, body: { sensor_id: 'a', valeu: 1 } });
latest.data?.item;
latest.error?.cod;
