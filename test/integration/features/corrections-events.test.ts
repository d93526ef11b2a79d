import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { uuidText } from '../../../schema/ids.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { openStream } from '../../support/http/event-stream.ts';
import type { Json } from '../../support/json.ts';
import { usePackedSystem } from '../../support/system/packed.ts';
import { until } from '../../support/until.ts';

const afterwards = useCleanUps();
const packed = usePackedSystem({
  readStreamed: async () => [],
  periods: { alarmRules: 100, corrections: 200 },
});

const replace = (device: string, ts: number, values: Record<string, number>) =>
  packed.system().post(
    `/corrections?device=${device}&reason=test`,
    Object.entries(values).map(([sensor, value]) => ({ sensor_id: sensor, ts, value })),
  );

const remove = (device: string, from: number, to: number) =>
  fetch(`${packed.system().httpUrl}/api/v1/measurements?device=${device}&from=${from}&to=${to}`, {
    method: 'DELETE',
  });

async function changesSince(since: string): Promise<Json[]> {
  const response = await packed
    .system()
    .fetch(`/changes?${new URLSearchParams({ since, limit: '2', wait: '0' })}`);
  return (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('Live corrections: a stream reader and an MQTT client: each gets every correction, in parts of 200 sensors', async () => {
  const hour = packed.newHour();
  const sensors = Array.from({ length: 250 }, (_, index) => [`s${index}`, index + 0.5] as const);
  for (const [sensor, value] of [['s', 1] as const, ...sensors])
    await packed.send('rack', [{ ts: hour, value }], sensor);
  const stream = await openStream(`${packed.system().httpUrl}/api/v1/stream`);
  afterwards(() => stream.close());
  const client = await mqtt.connectAsync(packed.system().mqttUrl);
  afterwards(() => client.endAsync(true));
  const messages: Json[] = [];
  client.on('message', (_, payload) => messages.push(JSON.parse(String(payload))));
  await client.subscribeAsync('iot/live/corrections');
  expect((await replace('rack', hour, { s: -1, ...Object.fromEntries(sensors) })).status).toBe(200);
  const events = () => stream.events.filter(({ event }) => event === 'correction').map(({ data }) => data);
  for (const read of [events, () => messages]) {
    await until(() => read().length === 2);
    const [first, second] = read();
    expect(first).toMatchObject({ kind: 'replace', samples: 251, reason: 'test', undoes: null });
    expect([second.id, first.sensor_ids.length, second.sensor_ids.length]).toEqual([first.id, 200, 51]);
  }
  await remove('rack', hour, hour + 1);
  await until(() => messages.at(-1)?.kind === 'remove');
}, 60_000);

test('Corrections in /changes: their hour has closed: in order, before its watermark, and a cursor continues after each', async () => {
  const hour = packed.newHour();
  await packed.send('tank', [{ ts: hour, value: 100 }]);
  await replace('tank', hour, { s: 21 });
  packed.clock.now += 1000;
  await remove('tank', hour, hour + 1);
  packed.clock.now = hour + 2 * HOUR_MS;
  const lines: Json[] = [];
  let since = new Date(hour).toISOString();
  while (!lines.some(({ kind }) => kind === 'watermark')) {
    lines.push(...(await changesSince(since)));
    since = lines.at(-1).cursor;
  }
  const corrections = lines.filter(({ kind }) => kind === 'correction');
  expect(corrections).toMatchObject([
    { correction: 'replace', from: new Date(hour).toISOString(), samples: 1, reason: 'test' },
    { correction: 'remove', to: new Date(hour + 1).toISOString(), samples: 1, reason: null },
  ]);
  expect(lines.findIndex(({ kind }) => kind === 'watermark')).toBeGreaterThan(
    lines.indexOf(corrections.at(-1)),
  );
});

/** Lists a correction of `s` as a process does that is killed before its listeners have it. @returns sets its entry */
async function listRemoval(device: string, [from, to]: [number, number], runningUntil: number) {
  const { corrections } = packed.store();
  const { device: deviceBytes, sensor } = packed.keyOf(device);
  const entry = {
    ...{ id: corrections.newId(packed.clock.now * 1000), revision: packed.clock.now * 1000 },
    ...{ device: uuidText(deviceBytes), kind: 'remove' as const, sensors: [uuidText(sensor)] },
    ...{ from, to, samples: 0, by: 'test', reason: 'killed', undoes: null, runningUntil },
  };
  await corrections.add(entry);
  return { entry, set: (more: object) => corrections.add({ ...entry, ...more }) };
}

test('Corrections in /changes: a removal runs past the end of its hour: the watermark waits until it has ended', async () => {
  const hour = packed.newHour();
  await packed.send('silo', [{ ts: hour, value: 100 }]);
  const { set } = await listRemoval('silo', [hour, hour + 1], hour + 5 * HOUR_MS);
  packed.clock.now = hour + 2 * HOUR_MS;
  const lines: Json[] = [];
  let since = new Date(hour).toISOString();
  const read = async () => {
    lines.push(...(await changesSince(since)));
    since = lines.at(-1).cursor;
  };
  await until(async () => {
    await read();
    return lines.at(-1).kind === 'position';
  });
  expect(lines.some(({ kind }) => kind === 'correction' || kind === 'watermark')).toBe(false);
  await set({ samples: 1, runningUntil: 0 });
  while (!lines.some(({ kind }) => kind === 'watermark')) await read();
  expect(lines.filter(({ kind }) => kind === 'correction')).toMatchObject([{ samples: 1, reason: 'killed' }]);
});

test('Correction: its process was killed: another process reports it to live readers, and marks the alarm', async () => {
  packed.newHour();
  const rule = { name: 'warm', severity: 'info', scope: { device: 'grill' } };
  await packed.system().post('/alarm-rules', { ...rule, condition: { kind: 'above', limit: 5 } });
  const start = packed.clock.now + 30_000;
  packed.clock.now += 60_000;
  await packed.send('grill', [
    { ts: start, value: 9 },
    { ts: start + 1000, value: 1 },
  ]);
  const alarms = async () => (await packed.system().get('/alarms?device=grill')).items as Json[];
  await until(async () => (await alarms()).length === 1);
  const stream = await openStream(`${packed.system().httpUrl}/api/v1/stream`);
  afterwards(() => stream.close());
  const { entry } = await listRemoval('grill', [start, start + 1000], packed.clock.now - 1);
  const events = () =>
    stream.events.filter(({ event, data }) => event === 'correction' && data.reason === 'killed');
  await until(async () => events().length > 0 && (await alarms())[0].values_corrected_at !== null);
  expect(events()).toMatchObject([{ data: { id: uuidText(entry.id), kind: 'remove' } }]);
  await until(async () => (await packed.store().corrections.find(entry.id))?.runningUntil === 0);
});

test('Undo of a correction: two requests at once: both answers name one undo, and undoing it restores the correction', async () => {
  const hour = packed.newHour();
  await packed.send('valve', [{ ts: hour, value: 100 }]);
  await replace('valve', hour, { s: 21 });
  const list = async () => (await packed.system().get('/corrections?device=valve')).items as Json[];
  const [{ id }] = await list();
  const undo = async (correction: string): Promise<string> =>
    (await (await packed.system().post(`/corrections/${correction}/undo`, {})).json()).id;
  const [first, ...others] = await Promise.all([undo(id), undo(id)]);
  expect(others).toEqual([first]);
  expect(await packed.read('valve', hour)).toEqual([{ ts: hour, value: 100 }]);
  packed.clock.now += 1000;
  await undo(String(first));
  expect(await packed.read('valve', hour)).toEqual([{ ts: hour, value: 21 }]);
  // A process withdraws its own entry if another one was first.
  const { entry } = await listRemoval('valve', [hour, hour + 1], 0);
  await packed.store().corrections.withdraw(entry);
  expect(await list()).toHaveLength(3);
});

test('Alarm: values of its time are corrected: values_corrected_at is set, but not for an older alarm', async () => {
  packed.newHour();
  const rule = { name: 'hot', severity: 'info', scope: { device: 'oven' } };
  await packed.system().post('/alarm-rules', { ...rule, condition: { kind: 'above', limit: 5 } });
  // A rule finds only later alarms.
  const start = packed.clock.now + 30_000;
  packed.clock.now += 60_000;
  for (const [second, value] of [9, 1, 9, 1].entries())
    await packed.send('oven', [{ ts: start + second * 1000, value }]);
  const alarms = async () => {
    const { items } = await packed.system().get('/alarms?device=oven');
    return items as Array<{ started_at: string; values_corrected_at: string | null }>;
  };
  await until(async () => (await alarms()).length === 2);
  await replace('oven', start + 2000, { s: 2 });
  const corrected = (await alarms()).map(({ started_at, values_corrected_at }) => [
    Date.parse(started_at) - start,
    values_corrected_at !== null,
  ]);
  expect(corrected.sort()).toEqual([
    [0, false],
    [2000, true],
  ]);
});
