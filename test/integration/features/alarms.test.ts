import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { groupOf, type Identity, identifyDevice } from '../../../schema/ids.ts';
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

/** @param name of a rule */
const receivedOf = (name: string, event: string) =>
  receiver.received.filter((received) => received.alarm.rule === name && received.event === event);

/** @returns the idempotency keys of these deliveries */
const keysOf = (received: Receiver['received']): unknown[] =>
  received.map(({ headers }) => headers['idempotency-key']);

/** Waits until the list matches. After a timeout the error shows the difference. */
async function untilItMatches(read: () => Promise<object[]>, expected: object[]) {
  const failure = async () => {
    const list = await read();
    try {
      return void expect(list).toMatchObject(expected);
    } catch (error) {
      return error;
    }
  };
  let last = await failure();
  await until(async () => {
    last = await failure();
    return !last;
  }).catch(() => {
    throw last;
  });
}

/** @param ts epoch ms */
const measure = (sensor: string, value: number, ts: number = Date.now()) =>
  device.measure('freezer', [{ sensor_id: sensor, ts, value }]);

test('POST /alarm-rules: clear limit is above the alarm limit: answers 400, and the detail names condition.clear', async () => {
  const condition = { kind: 'above', limit: 5, clear: 6 };
  const response = await request('/alarm-rules', 'POST', {
    name: 'wrong',
    scope: { device: 'freezer' },
    condition,
    severity: 'info',
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'malformed',
    detail: expect.stringContaining('condition.clear: must not exceed limit'),
  });
});

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

test('Alarm: a late sample splits an alarm episode in two: the first episode ends earlier, and both episodes have seen_late true', async () => {
  const now = Date.now();
  await addRule({
    name: 'late',
    since: now - 7_200_000,
    scope: { device: 'freezer', sensor: 'slow' },
    condition: { kind: 'below', limit: 0 },
  });
  const minute = (n: number) => now - n * 60_000;
  await measure('slow', -1, minute(100));
  await measure('slow', -2, minute(80));
  await measure('slow', 1, minute(70));
  await until(() => receivedOf('late', 'cleared').length > 0);
  await measure('slow', 1, minute(90));
  const items = () =>
    system.get('/alarms?state=cleared&device=freezer&sensor=slow').then((page) => page.items);
  const time = (n: number) => new Date(minute(n)).toISOString();
  // The two episodes are two writes, so readers may see one without the other.
  await untilItMatches(
    async () =>
      (await items()).map((item: Record<string, unknown>) => [
        item.opened_at,
        item.cleared_at,
        item.seen_late,
      ]),
    [
      [time(80), time(70), true],
      [time(100), time(90), true],
    ],
  );
  await until(() => receivedOf('late', 'corrected').length > 0);
  await measure('slow', 1, minute(95));
  await until(() => receivedOf('late', 'corrected').length > 1);
  const corrected = receivedOf('late', 'corrected');
  expect(corrected.map(({ alarm }) => alarm.cleared_at)).toEqual([90, 95].map(time));
  expect(new Set(keysOf(corrected)).size).toBe(2);
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

test('Alarm delivery: webhook receiver fails, hangs and answers late: the opening and the clearing of the alarm are both delivered', async () => {
  await addRule({
    name: 'flaky',
    scope: { device: 'freezer', sensor: 'door' },
    condition: { kind: 'above', limit: 0 },
  });
  receiver.become('fails');
  await measure('door', 1);
  await until(() => receiver.refused() > 1);
  // Only the delivery to the webhook waits. Alertmanager has accepted its own.
  await untilItMatches(
    async () => (await system.get('/alarm-deliveries')).items,
    [{ target: 'webhook', event: 'opened' }],
  );
  receiver.become('late');
  await until(() => receivedOf('flaky', 'opened').length > 0);
  receiver.become('hangs');
  await measure('door', 0);
  await until(
    async () => (await system.get('/alarms?device=freezer&sensor=door')).items[0]?.state === 'cleared',
  );
  receiver.become('takes');
  await until(() => receivedOf('flaky', 'cleared').length > 0, { withinMs: 120_000 });
  await until(async () => (await system.get('/alarm-deliveries')).items.length === 0);
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

test('POST /alarms/{alarm_id}/shelve: shelved alarm clears: the webhook receives the clearing only when the shelving ends', async () => {
  const stream = await openStream(`${system.httpUrl}/api/v1/stream`);
  await addRule({
    name: 'shelved',
    scope: { device: 'freezer', sensor: 'siren' },
    condition: { kind: 'above', limit: 0 },
  });
  await measure('siren', 1);
  await until(() => receivedOf('shelved', 'opened').length > 0);
  const items = async () => (await system.get('/alarms?device=freezer&sensor=siren')).items;
  const [{ alarm_id }] = await items();
  const path = `/alarms/${alarm_id}`;
  /** @param ms epoch ms */
  const shelve = async (ms: number) => {
    const response = await request(`${path}/shelve`, 'POST', { until: new Date(ms).toISOString() });
    expect(response.status).toBe(200);
  };
  await shelve(Date.now() + 3_600_000);
  await until(() => stream.events.some(({ event, data }) => event === 'alarm' && data.event === 'shelved'));
  stream.close();
  await measure('siren', 0);
  await until(async () => (await items())[0].state === 'cleared');
  // A later test delivery arrives, so the clearing is held back and not merely slow.
  expect((await request('/alarm-deliveries/test', 'POST')).status).toBe(200);
  expect(receivedOf('shelved', 'cleared')).toEqual([]);
  expect((await system.get('/alarm-deliveries')).items).toEqual([]);
  await shelve(Date.now());
  await until(() => receivedOf('shelved', 'cleared').length > 0);
  expect(receivedOf('shelved', 'cleared')).toMatchObject([{ alarm: { state: 'cleared' } }]);
  const events = (await system.get(`${path}/events`)).items;
  expect(events.map(({ kind }: { kind: string }) => kind)).toEqual([
    'opened',
    'shelved',
    'cleared',
    'shelved',
  ]);
});

test('PUT and DELETE /alarm-rules/{rule_id}: the rule has an open alarm: the alarm is cleared', async () => {
  const rule = {
    name: 'changing',
    scope: { device: 'freezer', sensor: 'fan' },
    condition: { kind: 'above', limit: 0 },
  };
  const { rule_id } = await addRule(rule);
  await measure('fan', 1);
  await until(() => receivedOf('changing', 'opened').length === 1);
  const body = { ...rule, severity: 'critical', condition: { kind: 'above', limit: 10 } };
  const changed = await request(`/alarm-rules/${rule_id}`, 'PUT', body);
  expect(await changed.json()).toMatchObject({ version: 2, condition: { limit: 10 } });
  await until(() => receivedOf('changing', 'cleared').length === 1);
  await measure('fan', 20);
  await until(() => receivedOf('changing', 'opened').length === 2);
  expect((await request(`/alarm-rules/${rule_id}`, 'DELETE')).status).toBe(204);
  await until(() => receivedOf('changing', 'cleared').length === 2);
  expect((await request(`/alarm-rules/${rule_id}`, 'DELETE')).status).toBe(404);
  expect((await system.get('/alarm-rules')).items.map(({ name }: { name: string }) => name)).not.toContain(
    'changing',
  );
});

/** Opens an alarm of one device with a rule for this device only. @param name of the device and the rule */
async function openAlarm(name: string) {
  const rule = await addRule({ name, scope: { device: name }, condition: { kind: 'above', limit: 0 } });
  await device.measure(name, [{ sensor_id: 'heat', ts: Date.now(), value: 1 }]);
  await until(() => receivedOf(name, 'opened').length === 1);
  return rule;
}

/** @param name of a rule @returns its open alarms */
const openOf = async (name: string): Promise<unknown[]> =>
  (await system.get('/alarms?state=open')).items.filter(({ rule }: { rule: string }) => rule === name);

test('Device retirement: device has an open alarm: the alarm is cleared once, and later evaluations do not open it again', async () => {
  const { rule_id } = await openAlarm('scrapped');
  expect((await request('/devices/scrapped', 'DELETE')).status).toBe(204);
  expect(await openOf('scrapped')).toEqual([]);
  await until(() => receivedOf('scrapped', 'cleared').length > 0);
  // The process that opened the alarm evaluates it again 0.1 s later, and 0.2 s after that.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await openOf('scrapped')).toEqual([]);
  // If the retirement and an evaluation end the alarm at the same moment, both report the end with one idempotency key.
  const keys = receivedOf('scrapped', 'cleared').map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(1);
  expect(receivedOf('scrapped', 'corrected')).toEqual([]);
  await request(`/alarm-rules/${rule_id}`, 'DELETE');
});

test('DELETE /alarm-rules/{rule_id}: a process died while it retired the device of an open alarm: the alarm is cleared', async () => {
  const { rule_id } = await openAlarm('lost');
  const { bytes } = identifyDevice('lost') as Identity;
  const store = await system.openStore();
  await store.retirement.retire({ group: groupOf(bytes, 4), bytes }, Date.now());
  expect((await request(`/alarm-rules/${rule_id}`, 'DELETE')).status).toBe(204);
  await until(() => receivedOf('lost', 'cleared').length > 0);
  expect(new Set(keysOf(receivedOf('lost', 'cleared'))).size).toBe(1);
  expect(await openOf('lost')).toEqual([]);
});

test('POST /alarm-rules/test: samples in history: the answer lists the alarms that the rule would have opened', async () => {
  const now = Date.now();
  const samples = Array.from({ length: 40 }, (_, n) => ({
    sensor_id: 'past',
    ts: now - n * 600_000,
    value: n % 10,
  }));
  await device.measure('freezer', samples);
  const response = await request('/alarm-rules/test', 'POST', {
    name: 'past',
    severity: 'info',
    scope: { device: 'freezer', sensor: 'past' },
    condition: { kind: 'above', limit: 7 },
  });
  expect(response.status).toBe(200);
  const found = await response.json();
  expect(found).toMatchObject({ count: 4, sensors: 1, partial: false });
  expect(found.items).toHaveLength(4);
  expect(found.items.every(({ peak }: { peak: number }) => peak === 9)).toBe(true);
  expect(found).toMatchObject({ fewer_alarms: { limit: 9, count: 0 }, more_alarms: null });
});

test('POST /alarm-rules/test: rule for absent samples: without_interval is the number of sensors that have no interval', async () => {
  await device.birth('gate', {
    sensors: [{ sensor_id: 'angle' }, { sensor_id: 'force', interval_ms: 1000 }],
  });
  await device.measure('gate', [
    { sensor_id: 'angle', ts: Date.now(), value: 1 },
    { sensor_id: 'force', ts: Date.now(), value: 1 },
  ]);
  const ask = async (condition: object) => {
    const scope = { device: 'gate' };
    const response = await request('/alarm-rules/test', 'POST', {
      name: 'a',
      severity: 'info',
      scope,
      condition,
    });
    return (await response.json()).without_interval;
  };
  expect(await ask({ kind: 'absent', intervals: 3 })).toBe(1);
  expect(await ask({ kind: 'absent', for_ms: 60_000 })).toBe(0);
  expect(await ask({ kind: 'above', limit: 0 })).toBe(0);
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

test('Alarm API: times before 1970 are accepted, invalid sensor names answer 400, and alarms are still listed', async () => {
  const early = -Number.MAX_SAFE_INTEGER;
  const rule = {
    name: 'early',
    severity: 'info',
    scope: { device: 'freezer', sensor: 'early' },
    condition: { kind: 'above', limit: 0 },
  };
  expect((await request('/alarm-rules', 'POST', { ...rule, since: early })).status).toBe(201);
  expect((await request('/alarm-rules', 'GET')).status).toBe(200);
  await measure('early', 1);
  const item = await until(async () =>
    (await system.get('/alarms?state=open')).items.find(
      ({ rule: name }: { rule: string }) => name === 'early',
    ),
  );
  expect((await request(`/alarms/${item.alarm_id}/shelve`, 'POST', { until: early })).status).toBe(200);
  expect((await request('/alarms', 'GET')).status).toBe(200);
  for (const query of [
    '?device=freezer&sensor=',
    `?device=freezer&sensor=${'x'.repeat(200)}`,
    '?sensor=early',
  ])
    expect((await request(`/alarm-rules/test${query}`, 'POST', rule)).status).toBe(400);
});
