import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { ByteBudget } from '../../../../api/ingest/admission/byte-budget.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { createFloods } from '../../../support/mqtt/floods.ts';
import { startBrokerAlone } from '../../../support/mqtt-broker.ts';
import { until } from '../../../support/until.ts';

/**
 * Packets that one turn of the event loop may answer: two shares of 512, because a turn may end one share and begin the next, and
 * the slice of 128 with which each share ends. Before the broker sliced its reads, a turn answered whole floods. This test counts
 * packets, because the time of a turn depends on the machine.
 */
const TURN_PACKETS = 2 * (512 + 128);

const SUBACK_BYTES = 5;
const SHORT_ACK_BYTES = 4;
const PINGRESP_BYTES = 2;

const afterwards = useCleanUps();

async function startBroker() {
  const sockets: Set<Socket> = new Set();
  const add = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);
  subscribe('net.server.socket', add);
  afterwards(() => unsubscribe('net.server.socket', add));
  let messages = 0;
  const { broker } = await startBrokerAlone(afterwards, {
    handleMessage: async () => {
      messages++;
      return 'accepted';
    },
    room: new ByteBudget(64 * 1024 * 1024),
  });
  return {
    floods: createFloods(broker.port, afterwards),
    clients: () => Number.parseInt(broker.check().message, 10),
    messages: () => messages,
    answered: (): number => sum([...sockets].map(({ bytesWritten }) => bytesWritten)),
  };
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** Finds the turn of the event loop in which a count grows most. @returns by how much */
async function largestStep(count: () => number, work: () => Promise<unknown>): Promise<number> {
  let largest = 0;
  let last = count();
  let isOver = false;
  const look = () => {
    const now = count();
    largest = Math.max(largest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work().finally(() => {
    isOver = true;
  });
  return largest;
}

type Floods = ReturnType<typeof createFloods>;

test.each([
  ['10 connections with 10,000 SUBSCRIBE each', SUBACK_BYTES, (floods) => floods.subscribe(10, 10_000)],
  ['4 connections with 50,000 UNSUBSCRIBE each', SHORT_ACK_BYTES, (floods) => floods.unsubscribe(4, 50_000)],
  ['20 connections with 32,768 PINGREQ each', PINGRESP_BYTES, (floods) => floods.ping(20, 32_768)],
  [
    '4 connections with 48,000 PUBREL, PUBACK and PUBREC each',
    SHORT_ACK_BYTES,
    (floods) => floods.acknowledge(4, 48_000),
  ],
  ['CONNECT with 10,000 SUBSCRIBE', SUBACK_BYTES, (floods) => floods.subscribeAtOnce(4, 10_000)],
] as Array<[string, number, (floods: Floods) => Promise<void>]>)(
  'MQTT flood: %s in one write: a turn of the event loop answers a bounded part',
  async (_, bytes, flood) => {
    const { floods, answered } = await startBroker();
    const largest = await largestStep(answered, () => flood(floods));
    expect(largest).toBeGreaterThan(0);
    expect(largest / bytes).toBeLessThanOrEqual(TURN_PACKETS);
  },
);

test('MQTT flood: 2,000 connections with a last will break at once: a turn of the event loop publishes a bounded part', async () => {
  const { floods, clients, messages } = await startBroker();
  const breakOff = await floods.prepareWills(2000);
  expect(clients()).toBe(2000);
  const largest = await largestStep(messages, async () => {
    breakOff();
    await until(() => messages() === 2000);
  });
  expect(largest).toBeLessThanOrEqual(TURN_PACKETS);
});
