import { expect, test } from '@jest/globals';
import { connectDevice } from '../support/mqtt/device.ts';
import { startTestSystem } from '../support/system/index.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';

/**
 * Births, first messages and statuses may come in any order. The tests read over HTTP, which reads the database each time
 * and does not use the cache of ingest.
 */

const SECOND_MS = 1000;

const system = useTestSystem();
const client = useDevice(system);

const birth = (device: string, content: object, by = client) => by.send(device, 'birth', content);

const measure = (device: string, sensor: string, by = client) =>
  by.send(device, 'measurements', { sensor_id: sensor, ts: Date.now(), value: 1 });

const latest = (device: string): Promise<unknown[]> => system.all(`/latest?device=${device}`);

const MESSAGES: Record<string, (device: string, session: number) => Promise<unknown>> = {
  measurement: (device) => measure(device, 't'),
  status: (device, session) => client.send(device, 'status', { state: 'online', session }),
  // The session of a bare status is its time of receipt, which is later than the session of the birth that follows.
  'bare status': (device) => client.send(device, 'status', 'online'),
  birth: (device, session) =>
    birth(device, {
      session,
      name: 'A lamp',
      site: 'Hall',
      sensors: [{ sensor_id: 't', name: 'warmth', type: 'T' }],
    }),
};

test.each([
  'status, birth',
  'bare status, birth',
  'measurement, birth',
  'status, measurement, birth',
  'measurement, status, birth',
  'status, birth, measurement',
  'birth, status, measurement',
])(
  'Device birth: messages arrive in the order %s: the device and its sensor have the names of the birth',
  async (order) => {
    const session = Date.now() - 60 * SECOND_MS;
    const device = order.replaceAll(/\W+/g, '-');
    for (const kind of order.split(', ')) await MESSAGES[kind]?.(device, session);
    expect(await system.get(`/devices/${device}`)).toMatchObject({
      name: 'A lamp',
      site: 'Hall',
      online: true,
    });
    expect(await latest(device)).toEqual([
      expect.objectContaining({ device: 'A lamp', name: 'warmth', type: 'T', site: 'Hall' }),
    ]);
  },
);

test('Device birth: two processes receive the births of one device in different orders: the name of the newest birth is stored', async () => {
  const settings = { CQL_KEYSPACE: system.config.cql.keyspace };
  const other = await startTestSystem({ settings });
  const second = await connectDevice(other);
  try {
    const session = Date.now() - 60 * SECOND_MS;
    const births = ['Y', 'X', 'Y'].map((name, index) => ({
      session: session + index,
      name,
      sensors: [{ sensor_id: 't' }],
    }));
    const [oldest, late, newest] = births;
    await birth('shared', { ...oldest });
    await measure('shared', 't', second);
    // Both processes get every birth: this process gets the late birth last, the other one before the newest birth.
    for (const content of [newest, late]) await birth('shared', { ...content });
    for (const content of [oldest, late, newest]) await birth('shared', { ...content }, second);
    expect((await system.get('/devices/shared')).name).toBe('Y');
    expect(await latest('shared')).toEqual([expect.objectContaining({ device: 'Y', name: 't' })]);
  } finally {
    await second.end();
    await other.halt();
  }
});
