/**
 * One misspelled name in each of the last lines. The compiler must refuse all of them. Each body has the type of its format,
 * because a map of sensors is a body too, and accepts any name.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './millrace.js';

type Plain = components['schemas']['PlainMeasurements'];
type Senml = components['schemas']['SenmlPack'];
type Json = 'application/json' | 'application/problem+json';
const client = createClient<paths, Json>({ baseUrl: 'URL' });
const latest = await client.GET('/api/v1/latest');

// Wrong from here on.
export const object: Plain = { sensor_id: 'temperature', valeu: 1 };
export const array: Plain = [{ sensor_id: 'temperature', valeu: 1 }];
export const optional: Plain = [{ sensor_id: 'temperature', value: 1, tss: 1 }];
export const senml: Senml = [{ n: 'temperature', v: 1, tt: 1 }];
await client.GET('/api/v1/device');
await client.GET('/api/v1/devices', { params: { query: { limits: 10 } } });
await client.GET('/api/v1/devices', { params: { query: { state: 'onlin' } } });
latest.data?.item;
latest.error?.cod;
