// cspell:ignore Offband meshcore arendst dabeani meshcoreterm nielsonm moscajs mosca
import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { useDevice, useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

/**
 * Replays public bug reports about order with our own payloads: clocks that go back, births and last wills that arrive late. Each test
 * names its report.
 */

const DAY_MS = 86_400_000;

const system = useTestSystem();
const client = useDevice(system);

const birth = (device: string, session: number, unit: string) =>
  client.birth(device, { session, sensors: [{ sensor_id: 't', unit }] });

const read = (device: string) => system.get(`/devices/${encodeURIComponent(device)}`);

test('Device clock: OffbandMesh/meshcore-firmware#1081: set back ten days after a restart: device is online, with the unit of the new birth', async () => {
  const now = Date.now();
  await birth('back', now - 60_000, 'K');
  await client.send('back', 'status', { state: 'online', session: now - 60_000 });
  await client.send('back', 'status', { state: 'offline', session: now - 60_000 });
  const session = now - 10 * DAY_MS;
  await birth('back', session, 'Cel');
  await client.send('back', 'status', { state: 'online', session });
  await client.send('back', 'measurements', { sensor_id: 't', ts: Date.now(), value: 1 });
  const device = await read('back');
  expect(device).toMatchObject({ online: true, sensors: [{ unit: 'Cel', value: 1 }] });
  expect(Math.round(device.clock_offset_ms / DAY_MS)).toBe(-10);
  const events = await system.all('/devices/back/events');
  expect(events.filter(({ clock_offset_ms: offset }) => offset).map(({ kind }) => kind)).toEqual([
    'online',
    'birth',
  ]);
});

test('Device clock: arendst/Tasmota#2571: set to 1970 after an update: the last will sets the device offline', async () => {
  await client.send('epoch', 'status', { state: 'online', session: Date.now() - 5000 });
  await client.send('epoch', 'status', { state: 'online', session: 3000 });
  expect((await read('epoch')).clock_offset_ms).toBeLessThan(-50 * 365 * DAY_MS);
  await client.send('epoch', 'status', { state: 'offline', session: 3000 });
  expect((await read('epoch')).online).toBe(false);
});

test('Device clock: dabeani/meshcoreterm#314: a month ahead, then corrected: sensor has the unit of the birth that arrived last', async () => {
  const now = Date.now();
  await birth('ahead', now + 30 * DAY_MS, 'K');
  expect(Math.round((await read('ahead')).clock_offset_ms / DAY_MS)).toBe(30);
  await birth('ahead', now, 'Cel');
  expect(await read('ahead')).toMatchObject({ clock_offset_ms: null, sensors: [{ unit: 'Cel' }] });
});

test('Presence: nielsonm236/NetMod-ServerApp#228: last will arrives after the status online: the next measurement sets the device online', async () => {
  for (const state of ['online', 'online', 'offline']) await client.send('bare', 'status', state);
  expect((await read('bare')).online).toBe(false);
  await client.send('bare', 'measurements', { sensor_id: 't', ts: Date.now(), value: 1 });
  expect((await read('bare')).online).toBe(true);
  const kinds = (await system.all('/devices/bare/events')).map(({ kind }) => kind);
  expect(kinds.slice(0, 2)).toEqual(['online', 'offline']);
});

test('Presence: moscajs/mosca#632: last will of the old connection arrives after the new connection is online: device stays online', async () => {
  const session = Date.now() - 60_000;
  await client.send('taken-over', 'status', { state: 'online', session });
  // The clock of the device was set back between the two connections.
  await client.send('taken-over', 'status', { state: 'online', session: session - 5000 });
  await client.send('taken-over', 'status', { state: 'offline', session });
  expect((await read('taken-over')).online).toBe(true);
});

test('Presence: F1p/Home-Assistant-Mitsubishi-CN105-to-MQTT#60: only the last will is retained: the next measurement sets the device online', async () => {
  const device = await mqtt.connectAsync(system.mqttUrl, {
    reconnectPeriod: 0,
    will: { topic: 'iot/v1/heat-pump/status', payload: Buffer.from('offline'), qos: 0, retain: true },
  });
  await client.send('heat-pump', 'measurements', { sensor_id: 't', ts: Date.now(), value: 1 });
  device.stream.destroy();
  await until(async () => (await read('heat-pump')).online === false);
  await client.send('heat-pump', 'measurements', { sensor_id: 't', ts: Date.now(), value: 2 });
  expect((await read('heat-pump')).online).toBe(true);
});
