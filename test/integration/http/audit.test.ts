import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { ROUTES } from '../../../api/features/index.ts';
import { createLogger } from '../../../api/observability/logger.ts';
import { send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const ADMIN = 'the token that is good for everything';

const lines: string[] = [];
const system = useTestSystem({
  logger: createLogger('info', { destination: { write: (line) => void lines.push(line) } }),
  settings: { MQTT_AUTH: 'true', AUTO_REGISTER: 'true', API_TOKEN: ADMIN, TRUST_PROXY: '1' },
  wrongTokens: { most: 3, windowMs: 600_000 },
});

const logged = (which: (line: Record<string, unknown>) => unknown) =>
  lines.map((line) => JSON.parse(line)).filter(which);

const ask = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: { body?: string; type?: string; address?: string; token?: string; id?: string } = {},
) => {
  const { body, type = 'application/json', address = '192.0.2.1', token = ADMIN, id = 'none' } = options;
  return send(system.httpUrl, `/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-forwarded-for': address,
      'x-request-id': id,
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    body,
  });
};

/** Creates a dead letter, and returns its id. */
async function refuseMessage() {
  await ask('POST', '/measurements?device=pump', { body: '{"sensor_id":"s","value":1}' });
  const client = await mqtt.connectAsync(system.mqttUrl, { username: 'pump', password: secret });
  await client.publishAsync('iot/v1/pump/measurements', 'nothing that we know', { qos: 1 });
  await client.endAsync();
  const { text } = await ask('GET', '/dead-letters');
  return JSON.parse(text).items[0].id;
}

let secret = '';

test('Audit log: administrator changes something: one line has action, target, credential, address and request id, without a secret', async () => {
  const issued = await ask('POST', '/credentials', { body: '{"account":"pump"}', id: 'issuing' });
  secret = JSON.parse(issued.text).secret;
  const id = await refuseMessage();
  const described = { body: '{"site":"yard"}' };
  expect((await ask('PUT', '/devices/pump', described)).status).toBe(200);
  expect((await ask('PATCH', '/devices/pump/sensors/s', { body: '{"unit":"Cel"}' })).status).toBe(200);
  await ask('POST', `/dead-letters/${id}/replay`, { id: 'replaying' });
  const rotated = await ask('POST', '/credentials/pump/rotate', { id: 'rotating', address: '192.0.2.2' });
  expect((await ask('DELETE', '/credentials/pump', { id: 'revoking' })).status).toBe(204);
  expect((await ask('DELETE', '/devices/pump', { id: 'retiring' })).status).toBe(204);
  const annotation = JSON.parse(
    (await ask('POST', '/annotations', { body: '{"text":"a new filter"}' })).text,
  );
  expect((await ask('DELETE', `/annotations/${annotation.id}`)).status).toBe(204);

  const definition = {
    name: 'high',
    scope: { device: 'pump', sensor: 's' },
    condition: { kind: 'above', limit: 0 },
  };
  const body = JSON.stringify({ ...definition, severity: 'info' });
  const added = await ask('POST', '/alarm-rules', { body });
  expect(added.status).toBe(201);
  const rule = JSON.parse(added.text).rule_id;
  const measured = await ask('POST', '/measurements?device=pump', { body: '{"sensor_id":"s","value":2}' });
  expect(measured.text).toBe('{"accepted":1}');
  const alarm = await until(async () => JSON.parse((await ask('GET', '/alarms')).text).items[0]?.alarm_id, {
    what: 'the alarm',
  });
  expect((await ask('POST', `/alarms/${alarm}/acknowledge`, { body: '{}' })).status).toBe(200);
  const shelving = { body: JSON.stringify({ until: new Date(Date.now() + 60_000).toISOString() }) };
  expect((await ask('POST', `/alarms/${alarm}/shelve`, shelving)).status).toBe(200);
  expect((await ask('PUT', `/alarm-rules/${rule}`, { body })).status).toBe(200);
  expect((await ask('DELETE', `/alarm-rules/${rule}`)).status).toBe(204);
  expect((await ask('POST', '/alarm-deliveries/test')).status).toBe(200);

  const created = await ask('POST', '/assets', { body: '{"name":"Plant 1"}' });
  const plant = JSON.parse(created.text).asset_id;
  expect((await ask('PATCH', `/assets/${plant}`, { body: '{"name":"Plant 2"}' })).status).toBe(200);
  expect((await ask('PUT', `/assets/${plant}/parent`, { body: '{"parent":null}' })).status).toBe(200);
  const place = { body: '{"asset":"Plant 2"}' };
  expect((await ask('PUT', '/devices/pump/assets?sensor=s', place)).status).toBe(200);
  expect((await ask('DELETE', '/devices/pump/assets?sensor=s')).status).toBe(204);
  const picture = { body: '<svg />', type: 'image/svg+xml' };
  expect((await ask('PUT', `/assets/${plant}/plan/picture`, picture)).status).toBe(200);
  expect((await ask('PUT', `/assets/${plant}/plan/places`, { body: '{"places":[]}' })).status).toBe(200);
  expect((await ask('DELETE', `/assets/${plant}/plan/picture`)).status).toBe(204);
  expect((await ask('DELETE', `/assets/${plant}`)).status).toBe(204);
  expect((await ask('POST', '/asset-tree', { body: 'path\nPlant 3\n', type: 'text/csv' })).status).toBe(200);
  const now = Date.now();
  await ask('POST', '/measurements?device=fan', { body: '{"sensor_id":"s","value":1}' });
  const correction = { body: `{"sensor_id":"s","ts":${now},"value":2}` };
  expect((await ask('POST', '/corrections?device=fan', correction)).status).toBe(200);
  const removal = `/measurements?device=fan&from=${now}&to=${now + 1}`;
  expect((await ask('DELETE', `${removal}&dry_run=true`)).status).toBe(200);
  expect((await ask('DELETE', removal)).status).toBe(200);
  const undone = JSON.parse((await ask('GET', '/corrections?limit=1')).text).items[0].id;
  expect((await ask('POST', `/corrections/${undone}/undo`)).status).toBe(200);

  const by = { audit: true, by: 'token', address: '192.0.2.1', level: 30 };
  const actions = logged(({ audit }) => audit);
  expect(actions).toEqual([
    expect.objectContaining({
      ...by,
      msg: 'a credential was issued',
      target: 'pump',
      requestId: 'issuing',
    }),
    expect.objectContaining({ ...by, msg: 'a device was described', target: 'pump' }),
    expect.objectContaining({ ...by, msg: 'a sensor was described', target: 'pump/s' }),
    expect.objectContaining({
      ...by,
      msg: 'a dead letter was replayed',
      target: id,
      requestId: 'replaying',
    }),
    expect.objectContaining({
      ...by,
      msg: 'a credential was rotated',
      target: 'pump',
      address: '192.0.2.2',
    }),
    expect.objectContaining({ ...by, msg: 'a credential was revoked', target: 'pump' }),
    expect.objectContaining({ ...by, msg: 'a device was retired', target: 'pump', requestId: 'retiring' }),
    expect.objectContaining({ ...by, msg: 'an annotation was stored', target: annotation.id }),
    expect.objectContaining({ ...by, msg: 'an annotation was removed', target: annotation.id }),
    expect.objectContaining({ ...by, msg: 'an alarm rule was added', target: rule }),
    expect.objectContaining({ ...by, msg: 'an alarm was acknowledged', target: alarm }),
    expect.objectContaining({ ...by, msg: 'an alarm was shelved', target: alarm }),
    expect.objectContaining({ ...by, msg: 'an alarm rule was changed', target: rule }),
    expect.objectContaining({ ...by, msg: 'an alarm rule was removed', target: rule }),
    expect.objectContaining({ ...by, msg: 'a test of deliveries was sent', target: '' }),
    expect.objectContaining({ ...by, msg: 'an asset was created', target: 'Plant 1' }),
    expect.objectContaining({ ...by, msg: 'an asset was changed', target: 'Plant 2' }),
    expect.objectContaining({ ...by, msg: 'an asset was moved', target: 'Plant 2' }),
    expect.objectContaining({ ...by, msg: 'a device was placed at an asset', target: 'pump/s' }),
    expect.objectContaining({ ...by, msg: 'a device was taken from its asset', target: 'pump/s' }),
    expect.objectContaining({ ...by, msg: 'the plan of an asset was stored', target: 'Plant 2' }),
    expect.objectContaining({ ...by, msg: 'sensors were placed on a plan', target: 'Plant 2' }),
    expect.objectContaining({ ...by, msg: 'the plan of an asset was removed', target: 'Plant 2' }),
    expect.objectContaining({ ...by, msg: 'an asset was retired', target: 'Plant 2' }),
    expect.objectContaining({ ...by, msg: 'assets were imported', target: 'lines: 1' }),
    expect.objectContaining({ ...by, msg: 'samples were replaced', target: 'fan' }),
    expect.objectContaining({ ...by, msg: 'samples were removed', target: 'fan' }),
    expect.objectContaining({ ...by, msg: 'a correction was undone', target: undone }),
  ]);
  const changing = ROUTES.filter(
    ({ method, operation }) => ['admin', 'correct'].includes(operation.scope) && method !== 'get',
  );
  expect(actions).toHaveLength(changing.length);
  for (const hidden of [ADMIN, secret, JSON.parse(rotated.text).secret]) {
    expect(lines.join('')).not.toContain(hidden);
  }
});

test('Audit: an action is refused: no audit line is written', async () => {
  const before = logged(({ audit }) => audit).length;
  expect((await ask('DELETE', '/credentials/nobody')).status).toBe(404);
  expect((await ask('DELETE', '/devices/nobody')).status).toBe(404);
  expect((await ask('DELETE', '/devices/pump', { token: 'wrong', address: '192.0.2.3' })).status).toBe(401);
  expect(logged(({ audit }) => audit)).toHaveLength(before);
});

test('Process log: many wrong API tokens: one line has the address, and one line reports that the client has to wait', async () => {
  const address = '192.0.2.66';
  for (let count = 0; count < 5; count++) await ask('GET', '/fleet', { token: 'a guess', address });
  const about = logged((line) => line.address === address);
  expect(about).toEqual([
    expect.objectContaining({ level: 40, wrong: 1, msg: 'a wrong token' }),
    expect.objectContaining({ level: 40, refused: 1, msg: 'too many wrong tokens; the client has to wait' }),
  ]);
  expect(lines.join('')).not.toContain('a guess');
});
