import { expect, test } from '@jest/globals';
import { mqttItem } from '../../../api/http/items.ts';
import { readSettings } from '../../../common/settings/index.ts';

const itemOf = (settings: Record<string, string>, port: number = 1884) =>
  mqttItem(readSettings(settings, { envFile: '' }), port);

test('Broker address for devices: embedded broker listens on loopback: has the host and port of the broker', () => {
  expect(itemOf({})).toEqual({
    embedded: true,
    host: '127.0.0.1',
    port: 1884,
    tls: false,
    credentials: false,
  });
});

test.each(['0.0.0.0', '::'])('Broker address for devices: embedded broker on %s: host is null', (host) => {
  const mqtt = { ...readSettings({}, { envFile: '' }).mqtt, host, auth: true };
  expect(mqttItem({ mqtt, role: 'all' }, 1884)).toMatchObject({
    embedded: true,
    host: null,
    credentials: true,
  });
});

test.each([
  ['mqtt://broker.example', { host: 'broker.example', port: 1883, tls: false, credentials: false }],
  ['mqtts://broker.example', { host: 'broker.example', port: 8883, tls: true, credentials: false }],
  ['mqtts://broker.example:9883', { host: 'broker.example', port: 9883, tls: true }],
  ['mqtt://[::1]:1900', { host: '::1', port: 1900, tls: false }],
])('Broker address for devices: MQTT_URL %s: has host, port and TLS of the URL', (MQTT_URL, expected) => {
  const mqtt = { ...readSettings({}, { envFile: '' }).mqtt, url: MQTT_URL };
  expect(mqttItem({ mqtt, role: 'all' }, 0)).toMatchObject({ embedded: false, ...expected });
});

test('Broker address for devices: process with ROLE=http: the address is null, unless MQTT_URL is set', () => {
  const { mqtt } = readSettings({}, { envFile: '' });
  expect(mqttItem({ mqtt, role: 'http' }, 0)).toBeNull();
  expect(mqttItem({ mqtt: { ...mqtt, url: 'mqtt://b' }, role: 'http' }, 0)).toMatchObject({ host: 'b' });
});
