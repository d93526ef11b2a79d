import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { type EventStream, openStream } from '../../support/http/event-stream.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

/** The first timestamp. Each value is 1 ms later, so that the newest one is known. */
let now = Date.now() - 3_600_000;

let streams: EventStream[] = [];

const system = useTestSystem();
const device = useDevice(system);
beforeAll(async () => {
  for (const name of ['a', 'b', 'c d']) await measure(name, 's', 0);
  await measure('a', 'left/top', 0);
});
afterEach(() => {
  for (const stream of streams) stream.close();
  streams = [];
});

const measure = (name: string, sensor: string, value: number, ts: number = now++) =>
  device.measure(name, [{ sensor_id: sensor, ts, value }]);

async function open(query: string = '', headers: Record<string, string> = {}) {
  const stream = await openStream(`${system.httpUrl}/api/v1/stream${query}`, { headers });
  streams.push(stream);
  return stream;
}

const names = (items: Record<string, unknown>[]) =>
  [...new Set(items.map(({ device, name }) => `${device}: ${name}`))].sort();

test.each([
  ['the whole fleet', '', ['a: left/top', 'a: s', 'b: s', 'c d: s']],
  ['a device', '?device=a', ['a: left/top', 'a: s']],
  ['several devices', '?device=a&device=c%20d', ['a: left/top', 'a: s', 'c d: s']],
  ['a device with a space, written as +', '?device=c+d', ['c d: s']],
  ['a sensor', '?sensor=b/s', ['b: s']],
  ['a sensor with a slash, each part encoded', '?sensor=a/left%2Ftop', ['a: left/top']],
  ['a sensor with a slash, encoded again as a whole', `?${form('a/left%2Ftop')}`, ['a: left/top']],
  ['a sensor with a space, encoded as a whole', `?${form('c%20d/s')}`, ['c d: s']],
  ['several devices and sensors', '?sensor=a/s&device=b&sensor=c%20d/s', ['a: s', 'b: s', 'c d: s']],
  ['a device that does not exist yet', '?device=nobody', []],
])('Event stream: %s: a snapshot, then only changes of these sensors', async (_, query, expected) => {
  const stream = await open(query);
  const { data } = await stream.first('snapshot');
  if (expected.length === 0) expect(data.items).toEqual([]);
  await until(() => names(stream.items('snapshot')).length === expected.length);
  expect(names(stream.items('snapshot'))).toEqual(expected);

  const value = now;
  for (const name of ['a', 'b', 'c d']) await measure(name, 's', value);
  await measure('a', 'left/top', value);
  // The snapshot of a later reader comes after all changes. By then every reader has its own changes.
  const witness = await open();
  await witness.first('snapshot');
  await until(() => stream.items('delta').filter((item) => item.value === value).length === expected.length);
  expect(names(stream.items('delta'))).toEqual(expected);
});

test('Event stream: device was retired while no value changes: the snapshot of a new reader does not have the device', async () => {
  await measure('gone', 's', 1);
  const before = await open('?device=gone&device=b');
  await before.first('snapshot');
  await until(() => names(before.items('snapshot')).includes('gone: s'));
  const { status } = await send(system.httpUrl, '/api/v1/devices/gone', { method: 'DELETE' });
  expect(status).toBe(204);
  const after = await open('?device=gone&device=b');
  const { data } = await after.first('snapshot');
  expect(names(data.items)).toEqual(['b: s']);
});

/** @returns as a form encodes it */
function form(pair: string): string {
  return new URLSearchParams({ sensor: pair }).toString();
}

test('Event stream: items of snapshot and delta: equal to those of GET /latest; each event has a unique id', async () => {
  const stream = await open('?sensor=b/s');
  const { data } = await stream.first('snapshot');
  expect(data).toEqual({ items: (await system.get('/latest?device=b')).items });
  await measure('b', 's', 7);
  await stream.first('delta');
  expect(stream.items('delta')).toEqual((await system.get('/latest?device=b')).items);
  const ids = stream.events.flatMap(({ id }) => id ?? []);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(ids.length);
  expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
  expect(stream.headers['cache-control']).toBe('no-store');
});

test('Event stream: stats event: sent repeatedly, with rates, latencies and the health of each process', async () => {
  const stream = await open('?device=a');
  await until(() => stream.events.filter(({ event }) => event === 'stats').length >= 3);
  const figure = expect.any(Number);
  await until(async () => {
    await measure('a', 's', 1);
    return stream.events.some(({ event, data }) => event === 'stats' && data.commit_ms.p50 !== null);
  });
  for (const { event, data } of stream.events) {
    if (event !== 'stats') continue;
    expect(data).toEqual({
      samples_per_s: figure,
      commit_ms: data.commit_ms.p50 === null ? { p50: null, p99: null } : { p50: figure, p99: figure },
      in_flight: figure,
      window: figure,
      window_limit: figure,
      waiting: figure,
      journal_ms: figure,
      refused_per_s: figure,
      readers: figure,
      health: [
        {
          client_id: expect.stringMatching(/:\d+$/),
          role: 'all',
          checks: expect.objectContaining({ database: { ok: true, message: 'answers' } }),
          unanswered_ms: 0,
          unsettled: { messages: figure, oldest_ms: figure, standstill_ms: figure },
        },
      ],
    });
  }
});

test.each([
  ['more than 2,000 devices', `?${'device=a&'.repeat(2001)}`, 'bad_parameter'],
  ['a sensor without its device', '?sensor=pulse', 'bad_parameter'],
  ['an unknown parameter', '?type=Pulse', 'bad_parameter'],
  ['broken percent-encoding', '?device=%zz', 'bad_parameter'],
  ['an empty name', '?device=', 'bad_id'],
  ['an empty sensor', '?sensor=a/', 'bad_id'],
])('Event stream: query with %s: answers 400', async (_, query, code) => {
  expectProblem(await send(system.httpUrl, `/api/v1/stream${query}`), 400, code);
});
