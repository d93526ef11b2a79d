import { expect, test } from '@jest/globals';
import { createTcpClients } from '../../support/http/tcp-clients.ts';
import { connectBytes, pubackIds, publishBytes } from '../../support/mqtt/packets.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const system = useTestSystem();
const client = useDevice(system);

const latin1 = (text: string) => Buffer.from(text, 'latin1');

const RULE = {
  name: 'Kühl',
  scope: { device: 'text-put', sensor: 't' },
  condition: { kind: 'above', limit: 1 },
  severity: 'warning',
};
const utf16 = (content: unknown) => Buffer.from(`\ufeff${JSON.stringify(content)}`, 'utf16le');

test.each([
  ['PUT', '/devices/text-put', { site: 'Büro' }, 200],
  ['PATCH', '/devices/text-put/sensors/t', { label: 'Küche', unit: '°C' }, 200],
  ['POST', '/annotations', { text: 'Kühlung' }, 201],
  ['POST', '/alarm-rules', RULE, 201],
])(
  '%s %s: body in UTF-16 or a declared charset: read; in another one: refused as malformed',
  async (method, path, content, status) => {
    if (method === 'PATCH') await client.publish('iot/v1/text-put/measurements', '{"t":1}');
    const ask = async (bytes: Buffer, charset: string = '') => {
      const headers = { 'content-type': `application/json${charset}` };
      const response = await system.fetch(path, { method, headers, body: new Uint8Array(bytes) });
      return { status: response.status, body: await response.json() };
    };
    const text = JSON.stringify(content);
    expect(await ask(latin1(text))).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/Windows-1252/) },
    });
    expect((await ask(latin1(text), '; charset=klingon')).status).toBe(415);
    expect((await ask(latin1(text), '; charset=windows-1252')).status).toBe(status);
    const { status: again, body } = await ask(utf16(content));
    expect([status, 409]).toContain(again);
    if (again === status) expect(JSON.stringify(body)).toContain('ü');
  },
);

test('Topic: not in UTF-8: message is refused and acknowledged, and the next message is stored', async () => {
  const clients = createTcpClients(system.beforeStop);
  const { socket, received } = await clients.open(system.mqttPort);
  const wrong = publishBytes('iot/v1/K?che/measurements', '{"t":1}', 7);
  wrong[wrong.indexOf('?')] = 0xfc;
  socket.write(connectBytes({ clientId: 'text-topic' }));
  socket.write(Buffer.concat([wrong, publishBytes('iot/v1/text-next/measurements', '{"t":2}', 8)]));
  await until(() => pubackIds(Buffer.from(received(), 'latin1').subarray(4)).includes(8), { what: 'PUBACK' });
  const { items } = await system.get('/devices?limit=1000');
  const names = items.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => name?.includes('\ufffd'))).toEqual([]);
  expect(names).toContain('text-next');
  const [refused] = await system.all('/dead-letters?code=bad_id');
  expect(refused.codes).toEqual({ bad_id: 1 });
});
