import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import mqtt from 'mqtt';
import { generate, type IPublishPacket } from 'mqtt-packet';
import { acknowledgeAfterCommit } from '../../../../../api/features/external-broker/source/acknowledging.ts';
import type { Receipt } from '../../../../../api/ingest/receipt-times.ts';
import { useCleanUps } from '../../../../support/clean-ups.ts';
import { listening } from '../../../../support/http/listening.ts';
import { createPacketReader } from '../../../../support/mqtt/packets.ts';
import { until } from '../../../../support/until.ts';

type Publish = Parameters<Parameters<typeof acknowledgeAfterCommit>[1]['onPublish']>[0];

/** @param packet sent by a broker */
const bytesOf = (packet: object) => generate(packet as never, { protocolVersion: 5 });
const CONNACK = bytesOf({ cmd: 'connack', sessionPresent: false, reasonCode: 0 });
const PINGRESP = bytesOf({ cmd: 'pingresp' });

const afterwards = useCleanUps();

/** Connects a client that acknowledges after the commit, and returns the broker side of its socket. */
async function open({
  mostMessages = 512,
  mostBytes = 1e9,
  keepalive = 60,
  settle = () => undefined,
}: {
  /** limit of unsettled messages */
  mostMessages?: number;
  /** limit of kept payload bytes */
  mostBytes?: number;
  /** in s */
  keepalive?: number;
  /** result of `onPublish` (default: each message settles at once) */
  settle?: () => unknown;
} = {}) {
  const server = createServer();
  const client = mqtt.connect(`mqtt://127.0.0.1:${await listening(server)}`, {
    manualConnect: true,
    protocolVersion: 5,
    clean: false,
    clientId: 'ingest',
    keepalive,
    reconnectPeriod: 0,
  });
  const received: Publish[] = [];
  /** topics of the messages that MQTT.js has read */
  const byMqttJs: string[] = [];
  const acknowledged: number[] = [];
  let pings = 0;
  client.on('packetreceive', (packet) => {
    if (packet.cmd === 'publish') byMqttJs.push(packet.topic);
  });
  acknowledgeAfterCommit(client, {
    maxUnsettled: { messages: mostMessages, bytes: mostBytes },
    onPublish(message) {
      received.push(message);
      return settle();
    },
    onFailed: (error) => {
      throw error;
    },
  });
  client.connect();
  const [socket] = (await once(server, 'connection')) as [Socket];
  afterwards(async () => {
    await client.endAsync(true);
    socket.destroy();
    server.close();
  });
  socket.setNoDelay();
  const packetsIn = createPacketReader({ version: 5 });
  socket.on('data', (chunk) => {
    for (const { cmd, messageId } of packetsIn(chunk)) {
      if (cmd === 'connect') socket.write(CONNACK);
      if (cmd === 'puback') acknowledged.push(Number(messageId));
      if (cmd === 'pingreq') pings++;
    }
  });
  await new Promise((resolve) => client.once('connect', resolve));
  return { socket, received, byMqttJs, acknowledged, pings: () => pings };
}

/** Properties that the fast reader leaves to MQTT.js. */
const UNUSUAL: Array<NonNullable<IPublishPacket['properties']>> = [
  { messageExpiryInterval: 7 },
  { userProperties: { a: 'b' }, contentType: 'text/plain' },
  { responseTopic: 'r', correlationData: Buffer.from('c') },
  { contentType: 'x'.repeat(200) },
];

const USUAL: Array<IPublishPacket['properties']> = [
  undefined,
  { contentType: 'application/json' },
  { payloadFormatIndicator: true, contentType: 'ü' },
];

const content = fc.oneof(
  { weight: 9, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 16_000, maxLength: 40_000 }) },
);
const message = fc.record({
  topic: fc.constantFrom('a', 'iot/v1/d/measurements', 'ü/µ', 'x'.repeat(300)),
  payload: content.map((bytes) => Buffer.from(bytes)),
  qos: fc.constantFrom(0, 1),
  dup: fc.boolean(),
  retain: fc.boolean(),
  properties: fc.constantFrom(...USUAL, ...USUAL, ...UNUSUAL),
  isPinged: fc.boolean(),
});

const asText = (messages: Publish[]) =>
  messages.map(({ payload, ...rest }) => ({ ...rest, payload: payload.toString('hex') }));

test('External broker: random packets in random pieces: messages arrive once and in order, MQTT.js parses those with unusual properties', async () => {
  const { socket, received, byMqttJs, acknowledged } = await open();
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 30 }), cuts, async (messages, shares) => {
      for (const list of [received, byMqttJs, acknowledged]) list.length = 0;
      const sent = messages.map((each, index) => ({
        ...each,
        dup: each.dup && each.qos === 1,
        messageId: each.qos === 1 ? index + 1 : undefined,
      }));
      const bytes = Buffer.concat(
        sent.flatMap((each) => {
          const packet = bytesOf({ ...each, cmd: 'publish' });
          return each.isPinged ? [packet, PINGRESP] : [packet];
        }),
      );
      const ends = shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b);
      let from = 0;
      for (const end of [...ends, bytes.length]) {
        socket.write(bytes.subarray(from, end));
        from = end;
        await nextTurn();
      }
      const ids = sent.flatMap(({ messageId }) => messageId ?? []);
      await until(() => received.length >= sent.length && acknowledged.length >= ids.length);
      const expected = sent.map(({ topic, payload, qos, messageId, dup, retain, properties }) => ({
        topic,
        payload,
        qos,
        messageId,
        dup,
        retain,
        contentType: properties?.contentType,
      }));
      expect(asText(received)).toEqual(asText(expected));
      expect(acknowledged).toEqual(ids);
      const unusual = sent.filter(({ properties }) => properties && UNUSUAL.includes(properties));
      expect(byMqttJs).toEqual(unusual.map(({ topic }) => topic));
    }),
    { numRuns: 30 },
  );
});

test('External broker: two uncommitted messages at a limit of two: the next message waits, and PUBACKs keep the order of arrival', async () => {
  const settles: Array<() => void> = [];
  const { socket, received, acknowledged } = await open({
    mostMessages: 2,
    settle: () => new Promise((resolve) => settles.push(() => resolve(undefined))),
  });
  const ids = [1, 2, 3, 4, 5];
  socket.write(
    Buffer.concat(
      ids.map((messageId) =>
        bytesOf({
          cmd: 'publish',
          topic: 't',
          payload: Buffer.from('p'),
          qos: 1,
          dup: false,
          retain: false,
          messageId,
          properties: messageId === 4 ? UNUSUAL[0] : undefined,
        }),
      ),
    ),
  );
  await until(() => received.length === 2);
  settles[1]?.();
  await until(() => received.length === 3);
  expect(acknowledged).toEqual([]);
  settles[0]?.();
  for (const index of [2, 3, 4]) {
    await until(() => settles.length > index);
    expect(received.length).toBeLessThanOrEqual(index + 2);
    settles[index]?.();
  }
  await until(() => acknowledged.length === ids.length);
  expect(acknowledged).toEqual(ids);
  expect(received.map(({ messageId }) => messageId)).toEqual(ids);
});

test('External broker: messages of QoS 0 arrive faster than they are committed: the client still sends PINGREQ', async () => {
  const packet = bytesOf({
    cmd: 'publish',
    topic: 't',
    payload: Buffer.from('p'),
    qos: 0,
    dup: false,
    retain: false,
  });
  let sent = 0;
  let isFlooded = true;
  let broker: Socket | undefined;
  const send = () => {
    sent++;
    broker?.write(packet);
  };
  const { socket, received, pings } = await open({
    mostMessages: 1,
    keepalive: 1,
    // Each message triggers the next one, so reading stops and resumes all the time.
    settle: async () => {
      if (isFlooded) send();
      await nextTurn();
    },
  });
  broker = socket;
  for (let count = 0; count < 100; count++) send();
  await until(() => pings() >= 3);
  isFlooded = false;
  await until(() => received.length === sent);
});

test('External broker: many small messages arrive in one read: no payload keeps the whole read buffer in memory', async () => {
  const { socket, received } = await open();
  const count = 300;
  const payload = Buffer.alloc(100, ' ');
  const packet = { cmd: 'publish', topic: 't', payload, qos: 0, dup: false, retain: false };
  socket.write(Buffer.concat(Array.from({ length: count }, () => bytesOf(packet))));
  await until(() => received.length === count);
  const kept = Math.max(...received.map((each) => each.payload.buffer.byteLength));
  expect(kept).toBeLessThanOrEqual(2 * payload.length + 2048);
});

/** No client of these tests connects to this address. */
const ADDRESS = 'mqtt://127.0.0.1:1';

test('External broker: an unacknowledged message is delivered again: both copies have one receipt, and none keeps its read buffer', () => {
  const client = mqtt.connect(ADDRESS, { manualConnect: true });
  const received: Array<{ payload: Buffer; receipt: Receipt }> = [];
  acknowledgeAfterCommit(client, {
    onPublish: ({ payload }, receipt) => {
      received.push({ payload, receipt });
      // The message never settles.
      return new Promise(() => {});
    },
    onFailed: () => {},
    maxUnsettled: { messages: 10, bytes: 1_000_000 },
  });
  const deliver = (payload: Buffer, dup: boolean) => {
    const packet: IPublishPacket = {
      cmd: 'publish',
      topic: 'iot/v1/d/measurements',
      payload,
      qos: 1,
      messageId: 1,
      dup,
      retain: false,
    };
    client.handleMessage(packet, () => {});
  };
  const chunk = Buffer.from(new ArrayBuffer(65_536));
  chunk.write('{"t": 1}', 100);
  deliver(chunk.subarray(100, 108), false);
  chunk.fill(0);
  deliver(Buffer.from('{"t": 1}'), true);
  expect(received.map(({ payload }) => payload.toString())).toEqual(['{"t": 1}', '{"t": 1}']);
  expect(received[1]?.receipt).toBe(received[0]?.receipt);
  for (const { payload } of received) expect(payload.buffer.byteLength).toBeLessThanOrEqual(2048);
});

test.each([
  ['fails', () => Promise.reject(new Error('no'))],
  [
    'fails at once',
    () => {
      throw new Error('no');
    },
  ],
] as Array<[string, () => unknown]>)(
  'External broker: a handler %s: the error is reported, and messages continue',
  async (_, onPublish) => {
    const client = mqtt.connect(ADDRESS, { manualConnect: true });
    const failed: string[] = [];
    acknowledgeAfterCommit(client, {
      onPublish,
      onFailed: ({ message }) => void failed.push(message),
      maxUnsettled: { messages: 1, bytes: 1000 },
    });
    for (let messageId = 1; messageId <= 3; messageId++) {
      const payload = Buffer.from('p');
      const packet = { cmd: 'publish', topic: 't', payload, qos: 1, messageId, dup: false, retain: false };
      client.handleMessage(packet as IPublishPacket, () => {});
      await nextTurn();
    }
    expect(failed).toEqual(['no', 'no', 'no']);
  },
);
