import { expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem({ settings: { AUTO_REGISTER: 'false' } });

async function ask(method: 'PUT' | 'PATCH' | 'POST' | 'DELETE', address: string, content?: unknown) {
  const body =
    content === undefined ? undefined : typeof content === 'string' ? content : JSON.stringify(content);
  const headers = { 'content-type': 'application/json' };
  const answer = await send(system.httpUrl, `/api/v1${address}`, { method, headers, body });
  return { ...answer, json: answer.text === '' ? null : JSON.parse(answer.text) };
}

/** @param session epoch ms */
async function publishBirth(device: string, birth: object, session: number) {
  const client = await connectDevice(system);
  await client.publish(`iot/v1/${device}/birth`, JSON.stringify({ session, ...birth }));
  await client.end();
}

test('PUT device description: new device: the device and its sensors are registered, and measurements are accepted', async () => {
  const sensors = [
    { sensor_id: 't', type: 'temperature', unit: 'Cel', label: 'Under the lamp', interval_ms: 500 },
  ];
  const { status, json } = await ask('PUT', '/devices/desk', { site: 'home', label: 'The desk', sensors });
  expect([status, json]).toMatchObject([
    200,
    {
      name: 'desk',
      site: 'home',
      label: 'The desk',
      sensors: [{ name: 't', type: 'temperature', unit: 'Cel', label: 'Under the lamp', interval_ms: 500 }],
    },
  ]);
  expect((await ask('POST', '/measurements?device=desk', { t: 21.5 })).json).toEqual({ accepted: 1 });
  expect((await system.get('/latest?site=home')).items).toMatchObject([
    { device: 'desk', name: 't', type: 'temperature', unit: 'Cel', site: 'home', value: 21.5 },
  ]);
  expect((await system.get('/devices?site=home')).items).toMatchObject([{ name: 'desk', label: 'The desk' }]);
  expect((await system.get('/latest?type=temperature')).items).toMatchObject([{ device: 'desk' }]);
});

test('PATCH sensor description: type, unit, label and interval are given: these change, and the name stays', async () => {
  await ask('PUT', '/devices/patched', { sensors: [{ sensor_id: 't', name: 'Temperature', unit: 'K' }] });
  const { status, json } = await ask('PATCH', '/devices/patched/sensors/t', {
    type: 'temperature',
    unit: 'Cel',
    label: 'Left',
    interval_ms: 100,
  });
  const described = {
    name: 'Temperature',
    type: 'temperature',
    unit: 'Cel',
    label: 'Left',
    interval_ms: 100,
  };
  expect([status, json]).toMatchObject([200, described]);
  expect(await system.get('/devices/patched/sensors/t')).toMatchObject(described);
});

test('Device description: a birth arrives later: site and unit of the birth replace those of the description, labels stay', async () => {
  const sensors = [{ sensor_id: 't', unit: 'Cel', label: 'Left' }];
  const hourAgo = Date.now() - 3_600_000;
  await ask('PUT', '/devices/born', { site: 'described', label: 'Mine', sensors });
  await publishBirth('born', { site: 'born', sensors: [{ sensor_id: 't', unit: 'K' }] }, hourAgo);
  const born = { site: 'born', label: 'Mine', sensors: [{ unit: 'K', label: 'Left' }] };
  expect(await system.get('/devices/born')).toMatchObject(born);
  // The cache of the process agrees with the database, so the measurement changes no attribute.
  await ask('POST', '/measurements?device=born', { t: 1 });
  expect(await system.get('/devices/born')).toMatchObject(born);
});

test.each([
  ['PUT', '/devices/wrong', '{', 400, 'malformed'],
  ['PUT', '/devices/wrong', [], 400, 'malformed'],
  ['PUT', '/devices/wrong', { site: '' }, 400, 'bad_id'],
  ['PUT', '/devices/wrong', { label: 'x'.repeat(129) }, 400, 'bad_id'],
  ['PUT', '/devices/wrong?site=x', {}, 400, 'bad_parameter'],
  ['PATCH', '/devices/desk/sensors/t', { interval_ms: 0 }, 400, 'malformed'],
  ['PATCH', '/devices/desk/sensors/t', { unit: 7 }, 400, 'bad_id'],
  ['PATCH', '/devices/desk/sensors/unknown', { unit: 'Cel' }, 404, 'not_found'],
  ['PATCH', '/devices/wrong/sensors/t', { unit: 'Cel' }, 404, 'not_found'],
] as const)(
  'Device description: %s %s with %j: answers %i %s, and nothing is stored',
  async (method, address, content, status, code) => {
    expectProblem(await ask(method, address, content as never), status, code);
    expectProblem(await send(system.httpUrl, '/api/v1/devices/wrong'), 404, 'not_found');
  },
);
