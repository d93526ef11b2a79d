import { describe, expect, test } from '@jest/globals';
import { createTcpClients } from '../../support/http/tcp-clients.ts';
import { connectBytes, pubackIds, publishBytes } from '../../support/mqtt/packets.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

const system = useTestSystem();
const client = useDevice(system);

async function codesOf(device: string): Promise<string[]> {
  const deadLetters = await system.all(`/dead-letters?limit=1000&device=${encodeURIComponent(device)}`);
  return deadLetters.flatMap(({ codes }) => Object.keys(codes));
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');

const WRONG: Array<[title: string, path: string, payload: Buffer]> = [
  ['home-assistant#84591: a broken name of a sensor', 'measurements', latin1('{"Switch10\xf4":1}')],
  ['home-assistant#96321: bytes of another packet', 'measurements', latin1('{"Device":"0\x9b\x01","t":1}')],
  ['SenML with a broken name', 'measurements', latin1('[{"n":"K\xfcche","v":1}]')],
  ['SenML in CBOR with a broken name', 'measurements', Buffer.from('81a20061ff0201', 'hex')],
  [
    'home-assistant#32548: a unit in Latin-1',
    'birth',
    latin1('{"sensors":[{"sensor_id":"t","unit":"\xb0C"}]}'),
  ],
  ['a name in Latin-1', 'birth', latin1('{"name":"K\xfcche","sensors":[]}')],
  ['a status with broken bytes', 'status', latin1('{"state":"offline","x":"\xff"}')],
];

const numbered: Array<[title: string, index: number, path: string, payload: Buffer]> = WRONG.map(
  ([title, path, payload], index) => [title, index, path, payload],
);

describe('A payload that is no UTF-8: refused as malformed, and nothing of it is stored', () => {
  test.each(numbered)(
    'Payload not in UTF-8: %s: a malformed dead letter',
    async (_, index, path, payload) => {
      const device = `text-${index}`;
      // A status needs a registered device.
      if (path === 'status') await client.publish(`iot/v1/${device}/birth`, '{"sensors":[]}');
      await client.publish(`iot/v1/${device}/${path}`, payload);
      expect(await codesOf(device)).toEqual(['malformed']);
      const response = await system.fetch(`/devices/${device}`);
      const { sensors = [], online = null } =
        response.status === 404 ? {} : ((await response.json()) as never);
      expect({ sensors, online }).toEqual({ sensors: [], online: path === 'status' ? true : null });
    },
  );
});

describe('HTTP body: other encodings', () => {
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
    '%s %s: body in UTF-16 or a declared charset is read, another one is refused as malformed',
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
});

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
