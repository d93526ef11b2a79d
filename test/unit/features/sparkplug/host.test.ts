import { expect, test } from '@jest/globals';
import { Host } from '../../../../api/features/sparkplug/host.ts';
import { createNodeDevices } from '../../../../api/features/sparkplug/nodes.ts';
import { identifyDevice } from '../../../../schema/ids.ts';

const NOW = 1_795_000_000_000;

function start() {
  let now = NOW;
  const host = new Host({ id: 'millrace-1', clock: () => now });
  return { host, at: (time: number) => (now = time) };
}

const message = (online: boolean, timestamp: number) => ({
  topic: 'spBv1.0/STATE/millrace-1',
  payload: Buffer.from(`{"online":${online},"timestamp":${timestamp}}`),
  qos: 1,
  retain: true,
});

test('Sparkplug host application: STATE last will and birth of a connection: their timestamps are equal', () => {
  const { host, at } = start();
  at(NOW + 1);
  expect(host.will()).toEqual(message(false, NOW + 1));
  at(NOW + 2);
  expect(host.birth()).toEqual(message(true, NOW + 1));
});

test('Sparkplug host application: reconnect: the STATE birth has the timestamp of the new last will', () => {
  const { host, at } = start();
  host.will();
  at(NOW + 5);
  host.will();
  expect(host.birth()).toEqual(message(true, NOW + 5));
});

test('Sparkplug host application: STATE birth without a last will: its timestamp is the start of the process', () => {
  const { host, at } = start();
  at(NOW + 5);
  expect(host.birth()).toEqual(message(true, NOW));
});

test.each([
  ['{"online":false,"timestamp":1}', true],
  ['{"online":true,"timestamp":1}', false],
  ['{"timestamp":1}', false],
  ['OFFLINE', false],
  ['', false],
])('Sparkplug host application: STATE message %s: reports offline: %p', (payload, expected) => {
  expect(start().host.reportsOffline(Buffer.from(payload))).toBe(expected);
});

test('Sparkplug edge node: list of its devices: only registered devices are returned', async () => {
  const registered = ['one', 'two'];
  const nodeIdentity = identifyDevice('plant/edge');
  const { all } = createNodeDevices({
    store: {
      devices: async (node: Buffer) =>
        node === nodeIdentity?.bytes ? [...registered, 'unknown', 'x'.repeat(128)] : [],
    } as never,
    registry: {
      async find({ name }: { name: string }) {
        return registered.includes(name.slice('plant/edge/'.length)) ? { name } : null;
      },
    } as never,
    retry: { run: (work: () => unknown) => work() } as never,
  });
  const turn = { topic: { node: 'plant/edge' }, nodeIdentity } as never;
  const names = (await all(turn)).map(({ name }) => name);
  expect(names).toEqual(['plant/edge/one', 'plant/edge/two']);
});
