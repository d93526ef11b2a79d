import { expect, test } from '@jest/globals';
import {
  type LiveItem,
  reachesLive,
  readChannel,
  readItems,
  statsProcess,
  statsTopic,
} from '../../../api/live/messages.ts';
import { NamedTopics } from '../../../api/live/named-topics.ts';
import { identifyDevice, identifySensor } from '../../../schema/ids.ts';

test.each(['ingest-1', 'host:8080', 'plant/7', 'Lüftung +#'])(
  'Statistics topic: process name %s: the topic is ASCII, and the name is read back from it',
  (process) => {
    const topic = statsTopic(process);
    expect(topic).toMatch(/^iot\/live\/stats\/[\x21-\x7e]+$/);
    expect(topic.split('/')).toHaveLength(4);
    expect(topic).not.toMatch(/[+#]/);
    expect(statsProcess(topic)).toBe(process);
  },
);

test.each(['#', '+/#', 'iot/#', 'iot/+/+', '+/+/+', '+/live/#', 'iot/live/#', 'iot/live/+', 'iot/live/d'])(
  'Live topics: subscription filter %s: recognized as matching live topics',
  (filter) => expect(reachesLive(filter)).toBe(true),
);

test.each(['iot/v1/#', 'iot/v1/+/status', 'spBv1.0/#', '$SYS/#', 'other/+/#', '+/v1/#'])(
  'Live topics: subscription filter %s: recognized as matching no live topic',
  (filter) => expect(reachesLive(filter)).toBe(false),
);

const idOf = (device: string) => String(identifyDevice(device)?.id);

/** @param device as in topics @param sensor as in messages @param shown names of a birth */
const itemOf = (device: string, sensor: string, shown?: { device?: string; name?: string }): LiveItem => ({
  device_id: idOf(device),
  sensor_id: String(identifySensor(idOf(device), sensor)?.id),
  device,
  name: sensor,
  type: null,
  unit: null,
  site: null,
  ts: '2026-11-21T00:00:00.000Z',
  value: 1,
  ...shown,
});

/** @param items published one by one @param channel level of the topic of a channel */
function namedTopicsOf(items: LiveItem[], channel: string = 'notes'): string[] {
  const topics: string[] = [];
  const DEVICE = { id: 'd', name: 'd', label: null, state: null, sensors: new Map() } as never;
  const named = new NamedTopics({
    demand: { any: () => true, wants: () => true },
    send(topic) {
      topics.push(topic);
      return true;
    },
    isRetained: false,
  });
  named.reserve(channel);
  for (const item of items) named.publish(DEVICE, [item], performance.now());
  return topics;
}

test('Live topics by name: a birth message gives two devices equal names: the second device is published under its id', () => {
  const other = itemOf('pump-1', 't', { device: 'Pump' });
  expect(namedTopicsOf([itemOf('Pump', 't'), other, itemOf('Pump', 't'), other])).toEqual([
    'iot/live/Pump',
    'iot/live/Pump/sensors/t',
    `iot/live/${other.device_id}/sensors/t`,
    'iot/live/Pump',
    'iot/live/Pump/sensors/t',
    `iot/live/${other.device_id}/sensors/t`,
  ]);
});

test('Live topics by name: a birth message gives two sensors equal names: the second sensor is published under its id', () => {
  const other = itemOf('Pump', 'probe-1', { name: 't' });
  const topics = namedTopicsOf([itemOf('Pump', 't'), other]).filter((topic) => topic.includes('/sensors/'));
  expect(topics).toEqual(['iot/live/Pump/sensors/t', `iot/live/Pump/sensors/${other.sensor_id}`]);
});

test('Live topics by name: a device and a sensor get new names: their live topics change with the names', () => {
  const device = idOf('Pump');
  const renamed = itemOf('Pump', 't', { device: 'Old pump', name: 'Heat' });
  expect(namedTopicsOf([renamed, itemOf('Pump', 't'), renamed])).toEqual([
    `iot/live/${device}/sensors/${renamed.sensor_id}`,
    'iot/live/Pump',
    'iot/live/Pump/sensors/t',
    `iot/live/${device}/sensors/${renamed.sensor_id}`,
  ]);
});

test.each([
  ['a text that is no time', { ts: 'zz' }],
  ['a time of another form', { ts: '2026-11-21T00:00:00Z' }],
  ['a time that does not exist', { ts: '2026-13-21T00:00:00.000Z' }],
  ['an infinite value', { value: '1e999' }],
])('Live values: a forged message has %s: the message is refused', (_, wrong) => {
  const item = { ...itemOf('pump', 't'), ...wrong };
  const read = (given: object) =>
    readItems(idOf('pump'), Buffer.from(JSON.stringify([given]).replace('"1e999"', '1e999')));
  expect(read(itemOf('pump', 't'))).toHaveLength(1);
  expect(read(item)).toBeNull();
});

test('Live channel: a message from the broker has several lines: the message is passed on as one line', () => {
  const read = ({ note }: { note: string }) => (note === 'forged' ? null : { note });
  const readNote = (message: object) => readChannel(Buffer.from(JSON.stringify(message, null, '\n')), read);
  expect(readNote({ note: 'a', more: 1 })).toBe('{"note":"a"}');
  expect(readNote({ note: 'forged' })).toBeNull();
  expect(readNote({ note: 'n'.repeat(20_000) })).toBeNull();
  expect(readChannel(Buffer.from('null'), read)).toBeNull();
});
