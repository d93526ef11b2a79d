import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Cut, CutClient } from '../../support/mqtt/cut-client.ts';
import { runs } from '../../support/runs.ts';
import { useTestSystem } from '../../support/system/use.ts';

/** The number of messages. Each is cut off at a random packet. */
const MESSAGES = runs(40);

const system = useTestSystem();

async function valuesOf(device: string): Promise<number[]> {
  const items = await system.all(`/devices/${device}/sensors/t/measurements?limit=1000&order=asc`);
  return items.map(({ value }) => value);
}

const payloadOf = (value: number) => JSON.stringify({ sensor_id: 't', value });

/** Sends one message after the other. @param cuts of each message @param payload default: without a time */
async function sendAll(
  device: string,
  qos: 1 | 2,
  cuts: Cut[][],
  idOf: (index: number) => number,
  payload: (value: number) => string = payloadOf,
) {
  const client = new CutClient({ port: system.mqttPort, clientId: device });
  const topic = `iot/v1/${device}/measurements`;
  for (const [index, ofMessage] of cuts.entries()) {
    await client.send({ topic, payload: payload(index), qos, messageId: idOf(index) }, ofMessage);
  }
  client.cut();
}

const CUTS: Cut[] = ['publish', 'answer', 'pubrel', 'none'];

const FIRST_TS = Date.now() - 3_600_000;

// Clause 4.3.3 of MQTT 3.1.1: QoS 2 delivers exactly once.
test.each([
  ['without a time', 'untimed', payloadOf],
  ['with times', 'timed', (value: number) => JSON.stringify({ sensor_id: 't', ts: FIRST_TS + value, value })],
])(
  'QoS 2 measurement %s: connection breaks after random packets of the handshake: each value is stored once, in order',
  async (_, kind, payload) => {
    const [cuts = []] = fc.sample(
      fc.array(fc.array(fc.constantFrom(...CUTS), { maxLength: 3 }), {
        minLength: MESSAGES,
        maxLength: MESSAGES,
      }),
      1,
    );
    const device = `twice-${kind}`;
    await sendAll(device, 2, cuts, (index) => (index % 3) + 1, payload);
    expect(await valuesOf(device)).toEqual(cuts.map((_none, index) => index));
  },
  600_000 + 500 * MESSAGES,
);

test('MQTT-4.3.2-2: packet id of an acknowledged message comes again with DUP and equal content: a new value is stored', async () => {
  const client = new CutClient({ port: system.mqttPort, clientId: 'twice-new' });
  const message = { topic: 'iot/v1/twice-new/measurements', payload: payloadOf(7), qos: 1, messageId: 1 };
  await client.send({ ...message, qos: 1 }, []);
  await client.send({ ...message, qos: 1 }, ['publish']);
  client.cut();
  const values = await valuesOf('twice-new');
  expect([2, 3]).toContain(values.length);
  expect(new Set(values)).toEqual(new Set([7]));
});

test('QoS 2 measurement without a time: client lost its state and uses a packet id again: the value is stored as a new one', async () => {
  const device = 'twice-reboot';
  await sendAll(
    device,
    2,
    [['answer']].map(() => []),
    () => 1,
  );
  const client = new CutClient({ port: system.mqttPort, clientId: device });
  const topic = `iot/v1/${device}/measurements`;
  await client.send({ topic, payload: payloadOf(5), qos: 2, messageId: 1 }, []);
  client.cut();
  expect(await valuesOf(device)).toEqual([0, 5]);
});
