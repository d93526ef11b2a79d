import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.ts';
import { send } from '../../support/http/index.ts';
import { createTcpClients } from '../../support/http/tcp-clients.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'the token that is good for everything';
const headers = { authorization: `Bearer ${TOKEN}` };

const afterwards = useCleanUps();
const tcpClients = createTcpClients(afterwards);

const system = useTestSystem({ settings: { API_TOKEN: TOKEN } });

const get = (path: string, token?: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`;

async function write(bytes: string) {
  const client = await tcpClients.open(Number(new URL(system.httpUrl).port));
  client.socket.pause().write(bytes);
  return client;
}

async function sumOf(series: RegExp): Promise<number> {
  const { text } = await send(system.httpUrl, '/metrics', { headers });
  const values = text.split('\n').filter((line) => series.test(line));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

const isQuiet = async () =>
  (await sumOf(/^iot_http_in_flight /)) === 1 && (await sumOf(/^iot_http_streams /)) === 0;

test('HTTP pipelining: exports behind a stream in one write: later clients can still export', async () => {
  const path = '/api/v1/measurements?device=exporter';
  const body = JSON.stringify({ sensor_id: 't', ts: Date.now() - 1000, value: 1 });
  await send(system.httpUrl, path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const csv = '/api/v1/devices/exporter/sensors/t/measurements?format=csv';
  const client = await write(get('/api/v1/stream', TOKEN) + get(csv, TOKEN).repeat(16));
  await until(isQuiet);
  client.socket.destroy();
  expect((await send(system.httpUrl, csv, { headers })).status).toBe(200);
});
