import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useCleanUps } from '../../support/clean-ups.js';
import { expectProblem, send } from '../../support/http.js';
import { readMetric } from '../../support/metrics.js';
import { startTestSystem } from '../../support/system.js';
import { createTcpClients } from '../../support/tcp-clients.js';
import { until } from '../../support/until.js';

/** @import { TestSystem } from '../../support/system.js' */

const afterwards = useCleanUps();
const strangers = createTcpClients(afterwards);

/** @type {TestSystem} */
let system;
beforeAll(async () => {
  system = await startTestSystem({ settings: { AUTO_REGISTER_MAX: '50' }, periods: { request: 1000 } });
});
afterAll(async () => {
  await system?.stop();
});

/** @param {string} bytes as they go over the wire @returns {Promise<string>} all that is answered until the connection ends */
async function say(bytes) {
  const stranger = await strangers.open(Number(new URL(system.httpUrl).port));
  stranger.socket.write(Buffer.from(bytes, 'latin1'));
  await until(() => stranger.closed());
  return stranger.received();
}

const HIDDEN = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const post = (/** @type {string} */ headers, /** @type {string} */ body) =>
  `POST /api/v1/measurements?device=smuggler HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;

// Whoever stands before us may read each of these otherwise than we do; so none of it is read at all.
test.each([
  ['a length and chunks', post('Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${HIDDEN}`)],
  ['chunks and a length', post('Transfer-Encoding: chunked\r\nContent-Length: 4', `0\r\n\r\n${HIDDEN}`)],
  ['two lengths', post('Content-Length: 2\r\nContent-Length: 44', `{}${HIDDEN}`)],
  ['a length with a sign', post('Content-Length: +2', `{}${HIDDEN}`)],
  ['a list of lengths', post('Content-Length: 2, 2', `{}${HIDDEN}`)],
  ['chunks that come last but one', post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${HIDDEN}`)],
  ['a space before the colon', post('Content-Length : 2', `{}${HIDDEN}`)],
  ['a header on two lines', post('X-A: b\r\n Content-Length: 2', `{}${HIDDEN}`)],
  ['a bare line feed', post('X-A: b\nContent-Length: 2', `{}${HIDDEN}`)],
  ['a chunk whose size is none', post('Transfer-Encoding: chunked', `2;\n{}\r\n0\r\n\r\n${HIDDEN}`)],
  ['a chunk with a size beyond all', post('Transfer-Encoding: chunked', `fffffffffffffffff\r\n${HIDDEN}`)],
  ['a NUL in a header', post('X-A: a\u0000b\r\nContent-Length: 2', `{}${HIDDEN}`)],
])('a request that hides another behind %s is answered once, and the connection ends', async (_, bytes) => {
  const heard = await say(bytes);
  expect(heard.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
  expect(heard).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect((await send(system.httpUrl, '/api/v1/devices/smuggler')).status).toBe(404);
});

test.each([
  ['chunks without end', post('Transfer-Encoding: chunked', '2\r\n[{'), '5\r\n     \r\n'],
  ['an extension of a chunk without end', post('Transfer-Encoding: chunked', '2;x='), 'x'.repeat(5)],
  ['a body that is shorter than it says', post('Content-Length: 500000', '[{'), '     '],
])('%s: no longer than a request may take', async (_, head, drop) => {
  const stranger = await strangers.open(Number(new URL(system.httpUrl).port));
  stranger.socket.write(head);
  await stranger.drip(drop.repeat(2000), 2);
  expect(stranger.received()).toMatch(/^HTTP\/1\.1 4\d\d /);
  await until(async () => (await readMetric(system, 'iot_ingest_submitted_bytes')) === 0);
});

test('made-up devices register up to AUTO_REGISTER_MAX, over MQTT and HTTP together, and cost no more', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  const measurement = JSON.stringify({ sensor_id: 't', ts: Date.now(), value: 1 });
  // Of many at once nobody knows who comes first.
  for (const first of ['made-up-0', 'made-up-1']) {
    await client.publishAsync(`iot/v1/${first}/measurements`, measurement, { qos: 1 });
  }
  for (let from = 0; from < 600; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        client.publishAsync(`iot/v1/made-up-${from + at}/measurements`, measurement, { qos: 1 }),
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
  // Those that have a place keep it.
  expect((await system.get('/devices/made-up-0')).sensors).toHaveLength(1);
});

test('a page of somewhere else, whose name was made to point here, gets no stream and posts nothing', async () => {
  const headers = { host: 'rebound.example:8080', origin: 'http://rebound.example:8080' };
  for (const [method, path] of [
    ['GET', '/api/v1/stream'],
    ['GET', '/metrics'],
    ['POST', '/api/v1/measurements?device=rebound'],
    ['DELETE', '/api/v1/devices/made-up-0'],
  ]) {
    const { status } = await send(system.httpUrl, String(path), { method, headers });
    expect([method, path, status]).toEqual([method, path, 421]);
  }
});

test.each([
  '__proto__',
  'constructor',
  'toString',
  '__proto__[polluted]',
  'constructor[prototype][polluted]',
])('a parameter %s is not known, and changes nothing', async (name) => {
  const answer = await send(system.httpUrl, `/api/v1/devices?${encodeURIComponent(name)}=1`);
  expectProblem(answer, 400, 'bad_parameter');
  expect(/** @type {any} */ ({}).polluted).toBeUndefined();
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
  'an export of device %j: one file name, and cells that are times and numbers',
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
