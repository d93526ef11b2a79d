import { Writable } from 'node:stream';
import { beforeEach, expect, test } from '@jest/globals';
import pino from 'pino';
import type { Broker } from '../../api/mqtt/embedded/index.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { connectRaw, type RawClient } from '../support/mqtt/raw-client.ts';
import { startBrokerAlone } from '../support/mqtt-broker.ts';
import { until } from '../support/until.ts';

const FLOOD = 2000;

const afterwards = useCleanUps();

let broker: Broker;
let port: number;
/** Reasons of the errors of clients. */
let errors: string[];

beforeEach(async () => {
  errors = [];
  const log = new Writable({
    write(line, _encoding, done) {
      const { msg, reason } = JSON.parse(String(line));
      if (msg === 'client') errors.push(reason);
      done();
    },
  });
  ({ broker } = await startBrokerAlone(afterwards, {
    maxMessageBytes: 4096,
    logger: pino({ level: 'debug' }, log),
  }));
  port = broker.port;
});

const connect = () => connectRaw(port, afterwards, { protocolVersion: 5 });

/** Retains the statuses of some devices. */
async function retain(count: number) {
  const device = await connect();
  const packets = Array.from({ length: count }, (_, index) => ({
    cmd: 'publish',
    topic: `iot/v1/d${index}/status`,
    payload: 'online',
    qos: 0,
    retain: true,
  }));
  device.send(...packets);
  await device.settle();
}

const subscribe = (topic: string) => ({ cmd: 'subscribe', messageId: 9, subscriptions: [{ topic, qos: 0 }] });

const countOf = ({ received }: RawClient, cmd: string) =>
  received.filter((packet) => packet.cmd === cmd).length;

const publishesOf = ({ received }: RawClient) => received.filter((packet) => packet.cmd === 'publish');

test('Retained messages: client sends 2,000 SUBSCRIBE packets at once: each gets SUBACK, and few of them start a search', async () => {
  const statuses = 50;
  await retain(statuses);
  const client = await connect();
  client.send(...Array.from({ length: FLOOD }, () => subscribe('#')));
  await until(() => countOf(client, 'suback') === FLOOD, { what: 'every SUBACK' });
  // Searches of a connection run one after the other, so the search of this SUBSCRIBE is the last.
  client.send({ ...subscribe('iot/v1/d7/#'), properties: { subscriptionIdentifier: 7 } });
  await until(() => publishesOf(client).some(({ properties }) => properties?.subscriptionIdentifier === 7), {
    what: 'the last search',
  });
  await client.settle();
  const delivered = countOf(client, 'publish');
  expect(delivered).toBeGreaterThan(statuses);
  // Each slice of 128 packets may begin two searches.
  expect(delivered).toBeLessThanOrEqual(2 * (FLOOD / 128 + 2) * statuses);
});
