import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { expectProblem, send } from '../../../support/http/index.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const ADMIN = 'the token that is good for everything';
const NOT_AUTHORIZED = 5;

// No periodic recheck of connections runs during a test, so every closed connection was closed at once.
const system = useTestSystem({
  settings: { MQTT_AUTH: 'true', API_TOKEN: ADMIN },
  periods: { recheck: 3_600_000 },
});

const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) =>
  send(system.httpUrl, `/api/v1/credentials${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

async function issue(account: string, devices?: string[]) {
  const { status, text } = await ask('POST', '', { account, devices });
  expect(status).toBe(201);
  return JSON.parse(text);
}

async function connects(username: string, password: string): Promise<number> {
  try {
    const client = await mqtt.connectAsync(system.mqttUrl, { username, password, reconnectPeriod: 0 });
    await client.endAsync(true);
    return 0;
  } catch (error) {
    return (error as { code: number }).code;
  }
}

test('Credentials API: issue, rotate, revoke: MQTT accepts only the newest secret, and no secret after the revocation', async () => {
  const issued = await issue('pump 1', ['a', 'plant/edge']);
  expect(issued).toMatchObject({ account: 'pump 1', devices: ['a', 'plant/edge'] });
  expect(await connects('pump 1', issued.secret)).toBe(0);

  expectProblem(await ask('POST', '', { account: 'pump 1' }), 409, 'credential_exists');
  const { secret, ...listed } = issued;
  const list = await ask('GET', '');
  expect(JSON.parse(list.text).items).toContainEqual(listed);
  expect(list.text).not.toContain(secret);

  const { status, text } = await ask('POST', '/pump%201/rotate');
  const rotated = JSON.parse(text);
  expect([status, rotated.issued_at, rotated.devices]).toEqual([200, issued.issued_at, issued.devices]);
  expect(await connects('pump 1', secret)).toBe(NOT_AUTHORIZED);
  expect(await connects('pump 1', rotated.secret)).toBe(0);

  expect((await ask('DELETE', `/${issued.device_id}`)).status).toBe(204);
  expect(await connects('pump 1', rotated.secret)).toBe(NOT_AUTHORIZED);
  for (const [method, path] of [
    ['DELETE', '/pump%201'],
    ['POST', '/pump%201/rotate'],
  ] as const) {
    expectProblem(await ask(method, path), 404, 'not_found');
  }
});
