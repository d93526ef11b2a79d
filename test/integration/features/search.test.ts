import { beforeAll, expect, test } from '@jest/globals';
import { identifyDevice } from '../../../schema/ids.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useTestSystem } from '../../support/system/use.ts';

const TS = Date.now() - 1000;

const system = useTestSystem();
beforeAll(async () => {
  const device = await connectDevice(system);
  for (const name of ['cow-1', 'cow-2']) {
    await device.measure(name, [
      { sensor_id: 'pulse', ts: TS, value: 61 },
      { sensor_id: 'temperature', ts: TS, value: 38 },
    ]);
  }
  await device.end();
});

const find = async (query: string) => {
  const { items, more } = await system.get(`/search?${query}`);
  return { more, found: items.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`) };
};

test('GET /search: any part of a name, in any case: finds devices and sensors, devices first', async () => {
  expect(await find('q=OW-1')).toEqual({
    more: false,
    found: ['device cow-1', 'sensor pulse', 'sensor temperature'],
  });
  expect(await find('q=cow-2%20temp')).toEqual({ more: false, found: ['sensor temperature'] });
  const [device] = (await system.get('/search?q=cow-1')).items;
  expect(device).toEqual({
    kind: 'device',
    name: 'cow-1',
    device_id: identifyDevice('cow-1')?.id,
    sensor_id: null,
    device: 'cow-1',
    type: null,
    site: null,
  });
});

test('GET /search: more matches than the limit: the answer has more=true', async () => {
  expect(await find('q=cow&limit=2')).toEqual({ more: true, found: ['device cow-1', 'device cow-2'] });
  expect((await find('q=nobody')).found).toEqual([]);
});

test.each(['', 'q=', 'q=a&limit=101', 'q=a%00', 'q=a&q=b', 'name=a'])(
  'GET /search: invalid query %s: answers bad_parameter',
  async (query) => {
    expectProblem(await send(system.httpUrl, `/api/v1/search?${query}`), 400, 'bad_parameter');
  },
);
