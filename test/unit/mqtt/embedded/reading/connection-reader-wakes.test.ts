import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import mqttPacket from 'mqtt-packet';
import { ByteBudget } from '../../../../../api/ingest/admission/byte-budget.ts';
import { Deliveries } from '../../../../../api/mqtt/acknowledgements.ts';
import { Answers } from '../../../../../api/mqtt/embedded/answers.ts';
import { type Connection, openConnection } from '../../../../../api/mqtt/embedded/connections.ts';
import { SessionlessBroker } from '../../../../../api/mqtt/embedded/mqtt5.ts';
import { ReadScheduler } from '../../../../../api/mqtt/embedded/reading/read-scheduler.ts';
import { Persistence } from '../../../../../api/mqtt/embedded/retained.ts';
import { Settling } from '../../../../../api/mqtt/embedded/settling.ts';
import { createMetrics } from '../../../../../api/observability/metrics.ts';
import { parseTopic, topicContract } from '../../../../../schema/topics.ts';
import { FakeSocket } from '../../../../support/mqtt/fake-socket.ts';
import {
  connectBytes,
  PINGREQ,
  publishBytes,
  subscribeBytes,
  unsubscribeBytes,
} from '../../../../support/mqtt/packets.ts';
import { runs } from '../../../../support/runs.ts';

/** The default high-water mark of Node.js 20, and that of later versions. */
const HIGH_WATER_MARKS = [16_384, 65_536];

/** Bytes that each case sends: more than one system read and a full Node.js buffer together. */
const TOTAL_BYTES = 300_000;
const MAX_PACKETS = 3000;

/** After this many turns of the event loop without an event, nothing more happens by itself. */
const QUIET_TURNS = 20;

const TOPIC = 'iot/v1/d/measurements';
const FILTER = 'iot/v1/d/status';

/** Each kind of packet, with the type of its answer. `size`: bytes of the payload. */
const KINDS = {
  qos0: { packet: (size: number) => publishBytes(TOPIC, Buffer.alloc(size)), answer: null },
  qos1: {
    packet: (size: number) => publishBytes(TOPIC, Buffer.alloc(size), 7),
    answer: 'puback',
  },
  qos2: {
    packet: (size: number) => publishBytes(TOPIC, Buffer.alloc(size), 8, 2),
    answer: 'pubrec',
  },
  ping: { packet: () => PINGREQ, answer: 'pingresp' },
  subscribe: { packet: () => subscribeBytes(9, FILTER), answer: 'suback' },
  unsubscribe: { packet: () => unsubscribeBytes(9, FILTER), answer: 'unsuback' },
};

/** Starts a broker of real parts, but the test settles the messages. */
async function startBroker({ budgetBytes }: { budgetBytes: number }) {
  const budget = new ByteBudget(budgetBytes);
  const scheduler = new ReadScheduler(budget);
  const connections: Map<unknown, Connection> = new Map();
  const unsettled: Array<() => void> = [];
  let received = 0;
  const persistence = new Persistence();
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const deliveriesOf = () => new Deliveries();
  const aedes = new SessionlessBroker({
    persistence,
    authorizePublish: new Settling({
      parseTopic,
      handleMessage: ({ payload, signal }) => {
        const work = () => new Promise((resolve) => void unsettled.push(() => resolve(undefined)));
        received++;
        return budget.run(payload.length, work, signal).then(() => 'accepted');
      },
      clock: () => 0,
      connectionOf: (client) => connections.get(client),
      canPublish: () => true,
      canSendFor: () => true,
      deliveriesOf,
      answers: new Answers({
        deliveriesOf,
        halfOpen: () => 0,
        forward: () => {},
        metrics,
        topics: { contract: topicContract([]), hint: '' },
      }),
      metrics,
    }).authorizePublish,
  });
  await aedes.listen();
  return {
    unsettled,
    scheduler,
    budget,
    get received() {
      return received;
    },
    open(socket: FakeSocket) {
      const connection = openConnection(socket as unknown as Socket, {
        aedes,
        scheduler,
        maxMessageBytes: 1024 * 1024,
        onTooLarge: () => {},
      });
      connections.set(connection.client, connection);
    },
    stop: () => new Promise((resolve) => aedes.close(() => resolve(undefined))),
  };
}

function answersOf(socket: FakeSocket): Record<string, number> {
  const counts: Record<string, number> = {};
  const parser = mqttPacket.parser();
  parser.on('packet', ({ cmd }) => {
    counts[cmd] = (counts[cmd] ?? 0) + 1;
  });
  parser.parse(Buffer.concat(socket.written));
  return counts;
}

const kind = fc.constantFrom(...(Object.keys(KINDS) as Array<keyof typeof KINDS>));
const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 700 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
);
const packets = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.array(fc.record({ kind: fc.constant('qos1'), size }), { minLength: 1, maxLength: 8 }),
  },
  { weight: 1, arbitrary: fc.array(fc.record({ kind, size }), { minLength: 1, maxLength: 8 }) },
);
const chunks = fc.array(
  fc.record({
    bytes: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 1_000_000 })),
    turns: fc.nat(3),
  }),
  { minLength: 1, maxLength: 6 },
);

/**
 * The first chunk ends one byte after the CONNECT. More bytes than the high-water mark follow before the broker answers
 * the CONNECT. Then the reader passes on this single byte.
 */
const FIRST_BYTE_ALONE = {
  packets: [{ kind: 'qos1', size: 0 }],
  chunks: [
    { bytes: 16, turns: 1 },
    { bytes: 20_000, turns: 0 },
  ],
  settling: [8],
  highWaterMark: 16_384,
  budgetBytes: 64 * 1024 * 1024,
};

test('Connection reader: random packets in random chunks, committed after random delays: every packet is answered', async () => {
  const cases = fc.record({
    packets,
    chunks,
    settling: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
    highWaterMark: fc.constantFrom(...HIGH_WATER_MARKS),
    budgetBytes: fc.constantFrom(64 * 1024 * 1024, 40_000),
  });
  await fc.assert(
    fc.asyncProperty(cases, async (given) => {
      const broker = await startBroker(given);
      const socket = new FakeSocket({ highWaterMark: given.highWaterMark });
      broker.open(socket);
      const { bytes, expected, messages } = streamOf(given.packets);
      await runUntilQuiet(broker, socket, bytes, given);
      expect({ answers: answersOf(socket), received: broker.received, unread: socket.unread }).toEqual({
        answers: expected,
        received: messages,
        unread: 0,
      });
      socket.push(null);
      await runUntilQuiet(broker, socket, Buffer.alloc(0), given);
      expect(socket.destroyed).toBe(true);
      await broker.stop();
    }),
    // No shrinking: it takes minutes, because each stalled case must become quiet first.
    { numRuns: runs(40), endOnFailure: true, examples: [[FIRST_BYTE_ALONE]] },
  );
});

/** Repeats a pattern of packets after a CONNECT. */
function streamOf(pattern: Array<{ kind: string; size: number }>) {
  const parts = pattern.map(({ kind, size }) => {
    const { packet, answer } = KINDS[kind as keyof typeof KINDS];
    return { bytes: packet(size), answer, isMessage: kind.startsWith('qos') };
  });
  const sum = parts.reduce((total, { bytes }) => total + bytes.length, 0);
  const rounds = Math.ceil(Math.min(TOTAL_BYTES / sum, MAX_PACKETS / parts.length));
  const expected: Record<string, number> = { connack: 1 };
  for (const { answer } of parts) if (answer) expected[answer] = (expected[answer] ?? 0) + rounds;
  const round = Buffer.concat(parts.map(({ bytes }) => bytes));
  return {
    bytes: Buffer.concat([connectBytes({ clientId: 'd' }), ...Array(rounds).fill(round)]),
    expected,
    messages: rounds * parts.filter(({ isMessage }) => isMessage).length,
  };
}

/**
 * Sends bytes in chunks and settles messages until nothing happens any more.
 * @param times `settling`: messages that settle in one turn
 */
async function runUntilQuiet(
  broker: Awaited<ReturnType<typeof startBroker>>,
  socket: FakeSocket,
  bytes: Buffer,
  { chunks, settling }: { chunks: Array<{ bytes: number; turns: number }>; settling: number[] },
) {
  let sent = 0;
  let chunk = 0;
  let pause = 0;
  let before = '';
  for (let turn = 0, quiet = 0; quiet < QUIET_TURNS; turn++) {
    if (sent < bytes.length && pause-- <= 0) {
      const next = chunks[chunk++ % chunks.length] as (typeof chunks)[number];
      socket.arrive(bytes.subarray(sent, sent + next.bytes));
      sent += next.bytes;
      pause = next.turns;
    }
    for (const settle of broker.unsettled.splice(0, settling[turn % settling.length])) settle();
    await nextTurn();
    const state = [socket.unread, socket.written.length, broker.received, socket.destroyed].join();
    const isWaiting = sent < bytes.length || broker.unsettled.length > 0 || broker.scheduler.waiting > 0;
    quiet = state === before && !isWaiting ? quiet + 1 : 0;
    before = state;
  }
}
