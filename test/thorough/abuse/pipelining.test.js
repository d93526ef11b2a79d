import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.js';
import { send } from '../../support/http.js';
import { startTestSystem } from '../../support/system.js';
import { createTcpClients } from '../../support/tcp-clients.js';
import { until } from '../../support/until.js';

/** @import { TestSystem } from '../../support/system.js' */

const TOKEN = 'the token that is good for everything';
const headers = { authorization: `Bearer ${TOKEN}` };

const afterwards = useCleanUps();
const strangers = createTcpClients(afterwards);

/** @type {TestSystem} */
let system;
beforeAll(async () => {
  system = await startTestSystem({ settings: { API_TOKEN: TOKEN } });
});
afterAll(() => system?.stop());

/** @param {string} path @param {string} [token] @returns {string} as it goes over the wire */
const get = (path, token) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`;

/** @param {string} bytes of somebody who reads nothing */
async function write(bytes) {
  const stranger = await strangers.open(Number(new URL(system.httpUrl).port));
  stranger.socket.pause().write(bytes);
  return stranger;
}

/** @param {RegExp} series of a metric @returns {Promise<number>} all of them together */
async function sumOf(series) {
  const { text } = await send(system.httpUrl, '/metrics', { headers });
  const values = text.split('\n').filter((line) => series.test(line));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Whether nothing is held but for who asks this. */
const isQuiet = async () =>
  (await sumOf(/^iot_http_in_flight /)) === 1 && (await sumOf(/^iot_http_streams /)) === 0;

test('streams in one piece: when the connection has ended, none of them is held', async () => {
  const stranger = await write(get('/api/v1/stream', TOKEN).repeat(100));
  await until(isQuiet);
  stranger.socket.destroy();
});

test('exports behind a stream, in one piece, take no place from those who come later', async () => {
  const path = '/api/v1/measurements?device=exporter';
  const body = JSON.stringify({ sensor_id: 't', ts: Date.now() - 1000, value: 1 });
  await send(system.httpUrl, path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const csv = '/api/v1/devices/exporter/sensors/t/measurements?format=csv';
  const stranger = await write(get('/api/v1/stream', TOKEN) + get(csv, TOKEN).repeat(16));
  await until(isQuiet);
  stranger.socket.destroy();
  expect((await send(system.httpUrl, csv, { headers })).status).toBe(200);
});

test('without a token, a thousand requests for a file in one piece: no more than two are ever answered', async () => {
  const before = await sumOf(/^iot_http_request_seconds_count\{route="other"/);
  const stranger = await write(get('/vendor/uplot.js').repeat(1000));
  await until(isQuiet);
  const after = await sumOf(/^iot_http_request_seconds_count\{route="other"/);
  expect(after - before).toBeLessThanOrEqual(2);
  stranger.socket.destroy();
});

test('wrong tokens in one piece are no more guesses than wrong tokens one after the other', async () => {
  const guesses = Array.from({ length: 400 }, (_, at) => get('/api/v1/fleet', `guess-${at}`));
  const stranger = await write(guesses.join(''));
  stranger.socket.resume();
  await until(() => stranger.closed());
  expect(await sumOf(/^iot_http_request_seconds_count\{route="\/api\/v1\/fleet"/)).toBeLessThanOrEqual(2);
});

test('who asks one after the other upon the same connection is answered for as long as he likes', async () => {
  const stranger = await strangers.open(Number(new URL(system.httpUrl).port));
  for (let times = 1; times <= 50; times++) {
    stranger.socket.write(get('/vendor/preact.js'));
    await until(() => stranger.received().split('HTTP/1.1 200 OK').length === times + 1);
  }
  expect(stranger.closed()).toBe(false);
});
