import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { openStream } from '../../support/http/event-stream.ts';
import { type Receiver, startReceiver } from '../../support/http/webhook-receiver.ts';
import { startAlertmanager } from '../../support/monitoring/servers.ts';
import { connectDevice, type Device } from '../../support/mqtt/device.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const SECRET = 'a secret of a receiver';

let receiver: Receiver;
let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;
let system: TestSystem;
let device: Device;

beforeAll(async () => {
  receiver = await startReceiver();
  alertmanager = await startAlertmanager({ webhooks: 'http://127.0.0.1:9' });
  system = await startTestSystem({
    settings: {
      ALARM_WEBHOOK_URL: receiver.url,
      ALARM_WEBHOOK_SECRET: SECRET,
      ALARM_ALERTMANAGER_URL: alertmanager.url,
    },
    periods: { absence: 100, alarmDeliveries: 300, alarmRecheck: 100 },
  });
  device = await connectDevice(system);
  system.beforeStop(device.end);
});
// A test that fails must not leave the next ones without a receiver.
afterEach(() => receiver?.become('takes'));
afterAll(async () => {
  await system?.stop();
  await alertmanager?.stop();
  await receiver?.stop();
});

const request = (path: string, method: string, body?: object) =>
  system.fetch(path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });

async function addRule(rule: object): Promise<Record<string, unknown>> {
  const response = await request('/alarm-rules', 'POST', { severity: 'warning', ...rule });
  expect(response.status).toBe(201);
  return response.json();
}

const receivedOf = (name: string, event: string) =>
  receiver.received.filter((received) => received.alarm.rule === name && received.event === event);

const keysOf = (received: Receiver['received']): unknown[] =>
  received.map(({ headers }) => headers['idempotency-key']);

const measure = (sensor: string, value: number, ts: number = Date.now()) =>
  device.measure('freezer', [{ sensor_id: sensor, ts, value }]);

test('Alarm: value crosses the limit and returns: signed webhook, stream and Alertmanager report one opening and one clearing', async () => {
  const stream = await openStream(`${system.httpUrl}/api/v1/stream`);
  const rule = await addRule({
    name: 'too warm',
    scope: { device: 'freezer', sensor: 'temperature' },
    condition: { kind: 'above', limit: -15, clear: -17 },
    text: 'Close the door',
  });
  await measure('temperature', -18);
  await measure('temperature', -10);
  const [opened] = await until(() =>
    receivedOf('too warm', 'opened').length > 0 ? receivedOf('too warm', 'opened') : null,
  );
  expect(opened?.alarm).toMatchObject({
    rule_id: rule.rule_id,
    device_id: expect.any(String),
    sensor: 'temperature',
    peak: -10,
    state: 'open',
    text: 'Close the door',
  });
  const [, epoch, signature] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(opened?.headers['millrace-signature'])) ?? [];
  expect(signature).toBe(createHmac('sha256', SECRET).update(`${epoch}.${opened?.body}`).digest('hex'));
  await until(async () => (await alertmanager.active()).includes('too warm'));
  expect(await alertmanager.annotationsOf('too warm')).toMatchObject({ description: 'Close the door' });

  const open = await system.get('/alarms?state=open');
  expect(open.items).toMatchObject([{ rule: 'too warm', state: 'open', text: 'Close the door' }]);

  await measure('temperature', -16);
  await measure('temperature', -18);
  await until(() => receivedOf('too warm', 'cleared').length > 0);
  await until(async () => !(await alertmanager.active()).includes('too warm'));
  expect((await system.get('/alarms?state=open')).items).toEqual([]);
  expect((await system.get('/alarms?device=freezer&sensor=temperature')).items).toMatchObject([
    { state: 'cleared', peak: -10 },
  ]);
  expect(receivedOf('too warm', 'opened')).toHaveLength(1);
  expect(receivedOf('too warm', 'cleared')).toHaveLength(1);
  const streamed = () => stream.events.filter(({ event }) => event === 'alarm');
  await until(() => streamed().length === 2);
  expect(streamed().map(({ data }) => data.alarm.text)).toEqual(['Close the door', 'Close the door']);
  stream.close();
  expect((await request(`/alarm-rules/${rule.rule_id}`, 'DELETE')).status).toBe(204);
  expect((await system.get('/alarms?device=freezer&sensor=temperature')).items).toMatchObject([
    { text: null },
  ]);
});

test('Absence alarm: sensor is silent for three intervals while its device sends: an alarm opens, and clears at the next sample', async () => {
  await device.birth('pump', {
    sensors: [
      { sensor_id: 'flow', interval_ms: 1000 },
      // This sensor keeps sending. Its long interval tolerates a machine that stalls for seconds.
      { sensor_id: 'heat', interval_ms: 10_000 },
    ],
  });
  const { rule_id } = await addRule({
    name: 'silent',
    scope: { device: 'pump' },
    condition: { kind: 'absent' },
  });
  const last = Date.now();
  await device.measure('pump', [
    { sensor_id: 'flow', ts: last, value: 1 },
    { sensor_id: 'heat', ts: last, value: 1 },
  ]);
  const beats = setInterval(
    () => device.measure('pump', [{ sensor_id: 'heat', ts: Date.now(), value: 1 }]).catch(() => {}),
    500,
  );
  try {
    await until(() => receivedOf('silent', 'opened').length > 0);
    const { items } = await system.get('/alarms?state=open');
    expect(items).toMatchObject([
      { rule: 'silent', sensor: 'flow', opened_at: new Date(last + 3000).toISOString(), peak: null },
    ]);
    await until(async () => {
      await device.measure('pump', [{ sensor_id: 'flow', ts: Date.now(), value: 1 }]);
      return (await system.get('/alarms?state=open')).items.length === 0;
    });
  } finally {
    clearInterval(beats);
    await request(`/alarm-rules/${rule_id}`, 'DELETE');
  }
  const opened = receivedOf('silent', 'opened').map(({ alarm }) => alarm);
  expect(new Set(opened.map(({ sensor }) => sensor))).toEqual(new Set(['flow']));
  // Each silence has one alarm. On a machine that stalls, the sensor may have been silent twice.
  expect(new Set(opened.map(({ alarm_id }) => alarm_id)).size).toBe(opened.length);
});

test('POST /alarms/{alarm_id}/acknowledge: name and comment: stored in the alarm, listed in its events, and sent to the webhook', async () => {
  await addRule({
    name: 'mine',
    scope: { device: 'freezer', sensor: 'lamp' },
    condition: { kind: 'above', limit: 0 },
  });
  await measure('lamp', 1);
  const [item] = await until(async () => {
    const { items } = await system.get('/alarms?severity=warning&device=freezer&sensor=lamp');
    return items.length > 0 ? items : null;
  });
  const path = `/alarms/${item.alarm_id}`;
  const acknowledged = await request(`${path}/acknowledge`, 'POST', { by: 'Ada', comment: 'I look' });
  expect(acknowledged.status).toBe(200);
  expect(await acknowledged.json()).toMatchObject({ acknowledged_by: 'Ada', comment: 'I look' });
  await until(() => receivedOf('mine', 'acknowledged').length > 0);
  expect((await request(`${path}/acknowledge`, 'POST', { by: 'Grace' })).status).toBe(200);
  await until(() => receivedOf('mine', 'acknowledged').length > 1);
  expect(new Set(keysOf(receivedOf('mine', 'acknowledged'))).size).toBe(2);
  const events = (await system.get(`${path}/events`)).items;
  expect(events.map(({ kind, by }: { kind: string; by: string }) => [kind, by])).toEqual([
    ['opened', null],
    ['acknowledged', 'Ada'],
    ['acknowledged', 'Grace'],
  ]);
  expect((await request('/alarms/unknown/acknowledge', 'POST', {})).status).toBe(404);
});

test('POST /alarm-deliveries/test: webhook and Alertmanager are configured: both accept a test delivery, and the answer has no error', async () => {
  const response = await request('/alarm-deliveries/test', 'POST');
  expect(await response.json()).toEqual({
    items: [
      { target: 'webhook', error: null },
      { target: 'alertmanager', error: null },
    ],
  });
  expect(receiver.received.at(-1)?.alarm.rule).toBe('Test of Millrace');
});
