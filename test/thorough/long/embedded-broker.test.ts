import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { expect, test } from '@jest/globals';
import type { IClientOptions } from 'mqtt';
import mqtt from 'mqtt';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startCqlWire } from '../../support/database/cql-wire.ts';
import { sharedContactPoint, uniqueName } from '../../support/database/engine.ts';
import { connectBytes, pubackIds, publishBytes } from '../../support/mqtt/packets.ts';
import { startCommand } from '../../support/processes/api-process.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const afterwards = useCleanUps();

async function startSystem(settings?: Record<string, string>) {
  const system = await startTestSystem({ settings });
  afterwards(() => system.stop());
  return system;
}

async function connect(url: string, options?: IClientOptions) {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, ...options });
  const received: Array<{ topic: string; payload: string; retain: boolean }> = [];
  client.on('message', (topic, payload, { retain }) => {
    received.push({ topic, payload: payload.toString(), retain });
  });
  afterwards(() => client.endAsync(true));
  return { client, received };
}

const base = Date.now() - 600_000;
const sample = (value: number) => JSON.stringify({ sensor_id: 's', ts: base + value, value });

test('Embedded broker: retained status messages: only accepted and small messages are kept', async () => {
  const system = await startSystem({ AUTO_REGISTER: 'false' });
  const { client } = await connect(system.mqttUrl);
  const retain = { qos: 1, retain: true } as const;
  for (const device of ['known', 'long', 'gone']) {
    await client.publishAsync(`iot/v1/${device}/birth`, '{}', { qos: 1 });
  }
  await client.publishAsync('iot/v1/known/status', 'online', retain);
  await client.publishAsync('iot/v1/known-not/status', 'online', retain);
  await client.publishAsync('iot/v1/bad\u0007id/status', 'online', retain);
  await client.publishAsync('iot/v1/long/status', 'neither on nor off', retain);
  const longStatus = JSON.stringify({ state: 'online', comment: 'x'.repeat(1024) });
  await client.publishAsync('iot/v1/long/status', longStatus, retain);
  await client.publishAsync('iot/v1/gone/status', 'online', retain);
  await client.publishAsync('iot/v1/gone/status', '', retain);
  expect((await system.get('/devices/long')).online).toBe(true);

  const late = await connect(system.mqttUrl);
  await late.client.subscribeAsync('iot/v1/+/status', { qos: 1 });
  // Retained messages come before all that is published after this point.
  await client.publishAsync('iot/v1/known/status', 'offline', { qos: 1 });
  await until(() => late.received.some(({ retain: kept }) => !kept));
  expect(late.received).toEqual([
    { topic: 'iot/v1/known/status', payload: 'online', retain: true },
    { topic: 'iot/v1/known/status', payload: 'offline', retain: false },
  ]);
});

test('Embedded broker: database is slow: the device is paused, not dropped; the broker reads a bounded amount', async () => {
  const wire = await startCqlWire(sharedContactPoint());
  afterwards(() => wire.stop());
  const system = await startSystem({ CQL_CONTACT_POINTS: wire.contactPoint });
  const { client } = await connect(system.mqttUrl);
  await client.publishAsync('iot/v1/slow/measurements', sample(0), { qos: 1 });
  await client.endAsync();

  wire.hold(({ statements }) => statements.some(({ cql }) => cql.startsWith('INSERT INTO message')));
  const socket = connectTcp(Number(system.mqttPort), '127.0.0.1');
  afterwards(() => void socket.destroy());
  let answers = Buffer.alloc(0);
  socket.on('data', (chunk) => (answers = Buffer.concat([answers, chunk])));
  await once(socket, 'connect');
  socket.write(connectBytes({ clientId: 'slow', keepalive: 1 }));
  const filler = ' '.repeat(20_000);
  const COUNT = 2000;
  let sent = 0;
  const send = () => {
    while (sent < COUNT) {
      sent++;
      if (!socket.write(publishBytes('iot/v1/slow/measurements', sample(sent) + filler, sent))) break;
    }
  };
  socket.on('drain', send);
  send();
  await until(() => wire.held() > 0);
  const unsettled = async () => {
    const text = await (await fetch(`${system.httpUrl}/metrics`)).text();
    return Number(/^iot_ingest_unsettled_bytes (\S+)$/m.exec(text)?.[1]);
  };
  // The process holds one chunk more than its bound of the 40 MB, for longer than three keepalives.
  const deadline = Date.now() + 4500;
  await until(async () => {
    expect(await unsettled()).toBeLessThan(2_000_000);
    expect(socket.destroyed).toBe(false);
    return Date.now() > deadline;
  });
  expect(socket.bytesWritten).toBeLessThan(COUNT * 20_000);
  expect(pubackIds(answers)).toEqual([]);
  wire.release();
  await until(() => pubackIds(answers).length === COUNT);
  expect(socket.destroyed).toBe(false);
});

async function startOnTakenPort(choose: (taken: { mqtt: string; http: string }) => Record<string, string>) {
  const first = await startSystem();
  const settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    CQL_KEYSPACE: uniqueName('t'),
    HTTP_PORT: '0',
    MQTT_PORT: '0',
    ...choose({ mqtt: String(first.mqttPort), http: new URL(first.httpUrl).port }),
  };
  await migrateDatabase(readSettings(settings, { envFile: '' }));
  const second = startCommand('api/index.ts', { ...settings, LOG_LEVEL: 'warn' });
  afterwards(() => second.kill());
  return second.ended;
}

test.each([
  ['MQTT_PORT', 'mqtt'],
  ['HTTP_PORT', 'http'],
])('Start: the port of %s is in use: exit code 71; the error names the setting', async (name, which) => {
  const { code, output } = await startOnTakenPort((taken) => ({
    [name]: taken[which as 'mqtt' | 'http'],
  }));
  expect(code).toBe(71);
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toContain(`Set ${name} to a free port`);
});
