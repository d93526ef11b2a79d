import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { HandleMessage } from '../../../../api/ingest/pipeline.ts';
import { Acknowledgements, Deliveries } from '../../../../api/mqtt/acknowledgements.ts';
import { Answers } from '../../../../api/mqtt/embedded/answers.ts';
import { Settling } from '../../../../api/mqtt/embedded/settling.ts';
import { createMetrics } from '../../../../api/observability/metrics.ts';
import { parseTopic, topicContract } from '../../../../schema/topics.ts';

/** A topic to which the account of the connection may not publish. */
const FORBIDDEN = 'iot/v1/other/measurements';

const metrics = createMetrics({ version: 'test', role: 'all' });
const deliveriesOf = () => new Deliveries();

/** @param connection sender of all messages (default: a closed one) */
const settlingOf = (handleMessage: HandleMessage, connection?: object) =>
  new Settling({
    parseTopic,
    handleMessage,
    clock: () => 0,
    connectionOf: () => connection as never,
    canPublish: (_client, topic) => topic !== FORBIDDEN,
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
  }).authorizePublish;

test('Embedded broker: a small message arrives in a large chunk of bytes: payload and properties do not keep the chunk in memory', async () => {
  const chunk = Buffer.from(new ArrayBuffer(65_536));
  const kept: Buffer[] = [];
  const settling = settlingOf(async ({ payload }) => {
    kept.push(payload);
    return 'accepted';
  });
  const packet = {
    topic: 'iot/v1/d/measurements',
    payload: chunk.subarray(65_000, 65_007),
    qos: 1,
    properties: { correlationData: chunk.subarray(64_000, 64_016) },
  };
  await new Promise((resolve) => settling(null, packet as never, resolve));
  expect(kept[0]?.equals(chunk.subarray(65_000, 65_007))).toBe(true);
  expect(kept[0]?.buffer.byteLength).toBeLessThanOrEqual(2048);
  expect(packet.payload).toBe(kept[0]);
  expect(packet.properties.correlationData.buffer.byteLength).toBeLessThanOrEqual(2048);
});

test.each([
  ['committed', 'iot/v1/d/measurements'],
  ['forbidden', FORBIDDEN],
])(
  'Embedded broker: a message is %s while an earlier message is uncommitted: its bytes are held until its PUBACK',
  async (_, topic) => {
    let bytes = 0;
    const client = { version: 4, closed: false } as never;
    const reader = {
      enter(size: number) {
        bytes += size;
      },
      leave(size: number) {
        bytes -= size;
      },
    };
    const connection = { client, reader, acknowledgements: new Acknowledgements() };
    const waiting: Array<() => void> = [];
    const handleMessage: HandleMessage = () =>
      new Promise((resolve) => void waiting.push(() => resolve('accepted')));
    const settling = settlingOf(handleMessage, connection);
    const acknowledged: number[] = [];
    for (const [index, each] of ['iot/v1/d/measurements', topic].entries()) {
      const packet = { topic: each, payload: Buffer.alloc(100), qos: 1, messageId: index + 1 };
      settling(client, packet as never, () => acknowledged.push(index + 1));
    }
    waiting[1]?.();
    await nextTurn();
    expect({ bytes, acknowledged }).toEqual({ bytes: 200, acknowledged: [] });
    waiting[0]?.();
    await nextTurn();
    expect({ bytes, acknowledged }).toEqual({ bytes: 0, acknowledged: [1, 2] });
  },
);

test('Embedded broker: a last will of a client whose connection is gone: it may send for no device', async () => {
  const permitted: unknown[] = [];
  const settling = settlingOf(async ({ permits }) => {
    permitted.push(permits?.('d', 'mapped'));
    return 'forbidden';
  });
  const packet = { topic: 'mapped', payload: Buffer.from('1'), qos: 1 };
  await new Promise((resolve) => settling({ closed: true } as never, packet as never, resolve));
  expect(permitted).toEqual([false]);
});
