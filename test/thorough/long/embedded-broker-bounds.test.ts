import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { ByteBudget } from '../../../api/ingest/admission/byte-budget.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { readSeries } from '../../support/metrics.ts';
import {
  connectBytes,
  PINGREQ,
  pubackIds,
  publishBytes,
  subscribeBytes,
} from '../../support/mqtt/packets.ts';
import { startBrokerAlone } from '../../support/mqtt-broker.ts';
import { until } from '../../support/until.ts';

const TOPIC = 'iot/v1/d/measurements';
const MB = 1e6;

const afterwards = useCleanUps();

/**
 * Starts the broker and the byte budget alone. The database behind them is away until the test calls `settleAll`.
 */
async function startBroker(budgetBytes: number) {
  const budget = new ByteBudget(budgetBytes);
  let isAway = true;
  const waiting: Array<() => void> = [];
  const accepted: string[] = [];
  const settle = async (topic: string) => {
    accepted.push(topic);
    if (isAway) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    return 'accepted' as const;
  };
  const { broker, metrics } = await startBrokerAlone(afterwards, {
    handleMessage: ({ topic, payload, signal }) => budget.run(payload.length, () => settle(topic), signal),
    room: budget,
  });
  return {
    broker,
    budget,
    metrics,
    accepted,
    url: `mqtt://127.0.0.1:${broker.port}`,
    settleAll() {
      isAway = false;
      for (const settleNext of waiting.splice(0)) settleNext();
    },
  };
}

/** @param packets sent once CONNECT is answered @param keepalive s */
async function openDevice(
  { port }: { port: number },
  packets: Buffer[],
  clientId: string,
  keepalive?: number,
) {
  const socket = connectTcp(port, '127.0.0.1');
  socket.on('error', () => {});
  afterwards(() => void socket.destroy());
  let answers = Buffer.alloc(0);
  socket.on('data', (chunk) => (answers = Buffer.concat([answers, chunk])));
  await once(socket, 'connect');
  socket.write(connectBytes({ clientId, keepalive }));
  // CONNACK
  await until(() => answers.length === 4);
  for (const packet of packets) socket.write(packet);
  return { socket, acknowledged: () => pubackIds(answers) };
}

test('Embedded broker: byte budget is exhausted: CONNECT is answered, and a paused device is not disconnected as silent', async () => {
  const { broker, budget, settleAll } = await startBroker(1);
  const packets = [1, 2].map((id) => publishBytes(TOPIC, 'x', id));
  const first = await openDevice(broker, packets, 'first');
  await until(() => budget.waiting > 0);
  const second = await openDevice(broker, [PINGREQ], 'second', 1);
  const deadline = Date.now() + 4500;
  await until(() => second.socket.closed || Date.now() > deadline);
  expect(second.socket.closed).toBe(false);
  expect(second.socket.bytesRead).toBe(4);
  settleAll();
  await until(() => first.acknowledged().length === 2);
  // PINGRESP
  await until(() => second.socket.bytesRead === 4 + 2);
});

test('Embedded broker: 600 connections with a last will break: at most 32 MiB of last wills wait', async () => {
  const { broker, budget, url, metrics } = await startBroker(1);
  await openDevice(
    broker,
    [1, 2].map((id) => publishBytes(TOPIC, 'x', id)),
    'first',
  );
  await until(() => budget.waiting > 0);
  const COUNT = 600;
  const will = { topic: 'iot/v1/d/status', payload: Buffer.alloc(65_000, 32), qos: 1 as const };
  for (let index = 0; index < COUNT; index++) {
    const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, will });
    client.stream.destroy();
  }
  const lost = async () =>
    (await metrics.messages.get()).values.find(({ labels }) => labels.result === 'unsettled');
  // The wills have 40 MB, and the bound is 32 MiB. The device's first message is begun, the second waits with the wills.
  await until(async () => budget.waiting - 1 + ((await lost())?.value ?? 0) === COUNT);
  expect(budget.waiting - 1).toBe(Math.floor((32 * 1024 * 1024) / (65_000 + 2048)));
});

test('Embedded broker: a subscriber stops reading: its messages are dropped and its connection closes; other subscribers get all messages', async () => {
  const { broker, url, metrics, settleAll } = await startBroker(64 * MB);
  settleAll();
  const dropped = async () =>
    Number(readSeries(await metrics.registry.metrics(), 'iot_broker_forwards_dropped_total'));
  const { socket: frozen } = await openDevice(broker, [subscribeBytes(1)], 'frozen');
  // CONNACK and SUBACK
  await until(() => frozen.bytesRead === 4 + 5);
  frozen.pause();
  const watcher = await mqtt.connectAsync(url, { reconnectPeriod: 0 });
  afterwards(() => watcher.endAsync(true));
  let received = 0;
  watcher.on('message', () => received++);
  await watcher.subscribeAsync('#');
  const device = await mqtt.connectAsync(url, { reconnectPeriod: 0 });
  afterwards(() => device.endAsync(true));
  const publish = () => device.publishAsync(TOPIC, Buffer.alloc(100_000, 32), { qos: 1 });
  expect(await dropped()).toBe(0);
  for (let sent = 1; sent <= 400; sent++) await publish();
  await until(() => received === 400);
  // The watcher received all messages, so the dropped ones were for the frozen subscriber.
  const droppedCount = await dropped();
  expect(droppedCount).toBeGreaterThan(0);
  expect(broker.check().message).toBe('3 clients');

  // When the subscriber reads again, new messages follow those that the operating system had buffered. The rest was dropped.
  let isBack = false;
  frozen.on('data', (chunk) => (isBack ||= chunk.includes('iot/v1/later/status')));
  frozen.resume();
  await until(async () => {
    await device.publishAsync('iot/v1/later/status', 'online', { qos: 1 });
    return isBack || frozen.closed;
  });
  expect(frozen.bytesRead).toBeLessThan(20 * MB);
  // A message that the subscriber received does not count as dropped.
  expect(Math.floor(frozen.bytesRead / 100_000)).toBeLessThanOrEqual(400 - droppedCount);

  frozen.pause();
  await until(async () => {
    for (let sent = 0; sent < 100; sent++) await publish();
    return broker.check().message === '2 clients';
  });
});
