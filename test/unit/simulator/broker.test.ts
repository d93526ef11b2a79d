import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readSettings } from '../../../common/settings/index.ts';
import { chooseBroker } from '../../../simulator/mqtt/broker.ts';

const choose = (environment: Record<string, string>, broker?: string) =>
  chooseBroker(readSettings(environment, { envFile: join(tmpdir(), 'there is none') }), { broker });

const SIGN_IN = { MQTT_USERNAME: 'u', MQTT_PASSWORD: 'p' };

test.each([
  [SIGN_IN, 'mqtt://broker.example'],
  [{}, 'mqtt://user:secret@broker.example:1883'],
])('Simulator broker: settings %p, URL %s: refused, as a password is unencrypted', (environment, broker) => {
  const choice = () => choose(environment, broker);
  expect(choice).toThrow(/^mqtt:\/\/broker\.example(:1883)? must be mqtts:/);
  expect(choose({ ...environment, TLS_ELSEWHERE: 'true' }, broker).url).toBe(broker);
});

test.each([
  [SIGN_IN, 'mqtts://broker.example'],
  [SIGN_IN, 'mqtt://127.0.0.1:1883'],
  [{}, 'mqtt://broker.example'],
  [SIGN_IN, undefined],
])('Simulator broker: settings %p, URL %s: accepted', (environment, broker) => {
  expect(choose(environment, broker).url).toBe(broker ?? 'mqtt://127.0.0.1:1883');
});
