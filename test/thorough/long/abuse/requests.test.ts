import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { expectProblem, send } from '../../../support/http/index.ts';
import { createTcpClients } from '../../../support/http/tcp-clients.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const afterwards = useCleanUps();
const tcpClients = createTcpClients(afterwards);

const system = useTestSystem({ settings: { AUTO_REGISTER_MAX: '50' } });

/** @returns everything that the server sends until the connection closes */
async function sendBytes(bytes: string): Promise<string> {
  const client = await tcpClients.open(Number(new URL(system.httpUrl).port));
  client.socket.write(Buffer.from(bytes, 'latin1'));
  await until(() => client.closed());
  return client.received();
}

const HIDDEN = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const post = (headers: string, body: string) =>
  `POST /api/v1/measurements?device=smuggler HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;

// A proxy may read each of these in another way than this server, so the server must read none of them.
test.each([
  ['a length and chunks', post('Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${HIDDEN}`)],
  ['chunks and a length', post('Transfer-Encoding: chunked\r\nContent-Length: 4', `0\r\n\r\n${HIDDEN}`)],
  ['two lengths', post('Content-Length: 2\r\nContent-Length: 44', `{}${HIDDEN}`)],
  ['a length with a sign', post('Content-Length: +2', `{}${HIDDEN}`)],
  ['a list of lengths', post('Content-Length: 2, 2', `{}${HIDDEN}`)],
  ['chunks as the last encoding but one', post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${HIDDEN}`)],
  ['a space before the colon', post('Content-Length : 2', `{}${HIDDEN}`)],
  ['a header on two lines', post('X-A: b\r\n Content-Length: 2', `{}${HIDDEN}`)],
  ['a bare line feed', post('X-A: b\nContent-Length: 2', `{}${HIDDEN}`)],
  ['a bare line feed after a chunk size', post('Transfer-Encoding: chunked', `2;\n{}\r\n0\r\n\r\n${HIDDEN}`)],
  ['a chunk with an enormous size', post('Transfer-Encoding: chunked', `fffffffffffffffff\r\n${HIDDEN}`)],
  ['a NUL in a header', post('X-A: a\u0000b\r\nContent-Length: 2', `{}${HIDDEN}`)],
])('HTTP request smuggling: a second request behind %s: the only answer is 4xx', async (_, bytes) => {
  const received = await sendBytes(bytes);
  expect(received.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
  expect(received).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect((await send(system.httpUrl, '/api/v1/devices/smuggler')).status).toBe(404);
});

test('Device registration: devices with invented names: at most AUTO_REGISTER_MAX are registered, over MQTT and HTTP together', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  const measurement = JSON.stringify({ sensor_id: 't', ts: Date.now(), value: 1 });
  // Among many concurrent messages the order is unknown, so these two devices register first.
  for (const device of ['made-up-0', 'made-up-1']) {
    await client.publishAsync(`iot/v1/${device}/measurements`, measurement, { qos: 1 });
  }
  for (let from = 0; from < 600; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.publishAsync(`iot/v1/made-up-${from + index}/measurements`, measurement, { qos: 1 }),
      ),
    );
  }
  const refused = await send(system.httpUrl, '/api/v1/measurements?device=one-more', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: measurement,
  });
  expectProblem(refused, 422, 'registration_limit');
  expect(await system.all('/devices?limit=1000')).toHaveLength(50);
  // The registered devices stay registered.
  expect((await system.get('/devices/made-up-0')).sensors).toHaveLength(1);
});

const NAMES = [
  'x"; filename="run.exe',
  "=cmd|' /C calc'!A0",
  '+1',
  '-1',
  '@SUM(1)',
  'ü\u2028"\\',
  '%0d%0aSet-Cookie: a=b',
];

test.each(NAMES)(
  'CSV export: the device is named %j: the file name is safe, and cells have only times and numbers',
  async (device) => {
    const path = `/api/v1/measurements?device=${encodeURIComponent('made-up-1')}`;
    const birth = await mqtt.connectAsync(system.mqttUrl);
    afterwards(() => birth.endAsync(true));
    await birth.publishAsync('iot/v1/made-up-1/birth', JSON.stringify({ name: device }), { qos: 1 });
    const sent = await send(system.httpUrl, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ sensor_id: 't', ts: Date.now() - 1000, value: -1e-7 }]),
    });
    expect(sent.status).toBe(200);
    const from = Date.now() - 3_600_000;
    const answer = await send(
      system.httpUrl,
      `/api/v1/devices/made-up-1/sensors/t/measurements?format=csv&from=${from}`,
    );
    expect(answer.headers['content-disposition']).toMatch(
      /^attachment; filename=("[^"\\\r\n]+"|[\w.+-]+)(; filename\*=UTF-8''[\w.%!~*-]+)?$/,
    );
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).toMatch(/^ts,value\n([\d-]+T[\d:.]+Z,-?[\d.]+(e[+-]\d+)?\n)+$/);
  },
);
