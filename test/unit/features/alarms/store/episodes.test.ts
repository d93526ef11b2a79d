import { expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { type Alarm, AlarmStore } from '../../../../../api/features/alarms/store/episodes.ts';
import { writeTimestamp } from '../../../../../api/store/index.ts';
import { createMemoryStore } from '../../../../support/memory-store/index.ts';

const { OperationTimedOutError } = cassandra.errors;

const NOW = Date.UTC(2026, 10, 25, 12);

/** @param start ms after NOW */
const alarmOf = (rule: number, start: number): Alarm => ({
  device: Buffer.alloc(16, 7),
  sensor: Buffer.alloc(16, 8),
  rule: Buffer.alloc(16, rule),
  start: NOW + start,
  opened: NOW + start,
  cleared: NOW + start + 1,
  peak: 1,
  version: 1,
  ruleName: 'rule',
  severity: 'warning',
  condition: 'above',
  deviceName: null,
  sensorName: null,
  site: null,
  unit: null,
  late: false,
  withdrawn: false,
  acknowledgedAt: null,
  acknowledgedBy: null,
  comment: null,
  shelvedUntil: null,
});

test('Alarms of a sensor: alarms of two rules, more than the limit: the newest ones are returned, newest first', async () => {
  const { store } = await createMemoryStore({ clock: () => NOW });
  const episodes = new AlarmStore(store.session);
  const alarms = [alarmOf(1, 10), alarmOf(1, 30), alarmOf(2, 20), alarmOf(2, 40), alarmOf(2, 25)];
  for (const alarm of alarms) await episodes.write(0, alarm, writeTimestamp(NOW));
  const { device, sensor } = alarmOf(1, 0);
  const starts = async (page: { until: number; limit: number }) =>
    (await episodes.ofSensor(device, sensor, page)).map(({ start }) => start - NOW);
  expect(await starts({ until: NOW + 30, limit: 2 })).toEqual([30, 25]);
  expect(await starts({ until: NOW + 1000, limit: 10 })).toEqual([40, 30, 25, 20, 10]);
});

/** @param at ms after NOW */
const eventOf = (kind: string, at: number) => ({ at: NOW + at, kind, actor: null, comment: null });

/** Opens a store that cannot write to a table while `failure.isOn`. */
async function openFailing(failing: string, isOn: boolean) {
  const failure = { isOn };
  const { store } = await createMemoryStore({
    clock: () => NOW,
    around: async ({ table, kind }, run) => {
      if (table === failing && kind !== 'select' && failure.isOn)
        throw new OperationTimedOutError('no answer in time', '127.0.0.1:9042');
      return run();
    },
  });
  return { episodes: new AlarmStore(store.session), failure };
}

test('Alarm episode: its row cannot be written after its history: the repeated write adds nothing to the history', async () => {
  const { episodes, failure } = await openFailing('alarm', true);
  const alarm = alarmOf(1, 0);
  const write = (at: number) =>
    episodes.write(0, alarm, writeTimestamp(NOW + at), [eventOf('opened', at), eventOf('cleared', at + 1)]);
  await expect(write(0)).rejects.toThrow();
  expect(await episodes.history(alarm)).toEqual([eventOf('opened', 0), eventOf('cleared', 1)]);
  failure.isOn = false;
  await write(10);
  await episodes.note(alarm, eventOf('acknowledged', 20));
  await episodes.write(0, alarm, writeTimestamp(NOW + 30), [eventOf('corrected', 30)]);
  await episodes.write(0, alarm, writeTimestamp(NOW + 40), [eventOf('cleared', 40)]);
  expect(await episodes.history(alarm)).toEqual([
    eventOf('opened', 0),
    eventOf('cleared', 11),
    eventOf('acknowledged', 20),
    eventOf('corrected', 30),
    eventOf('cleared', 40),
  ]);
});

test('Alarm: the row of its end cannot be written, and late samples continue it: the history has its real end', async () => {
  const { episodes, failure } = await openFailing('alarm', false);
  const alarm = alarmOf(1, 0);
  /** @param at ms after NOW */
  const write = (kind: string, at: number) =>
    episodes.write(0, alarm, writeTimestamp(NOW + at), [eventOf(kind, at)]);
  await write('opened', 0);
  failure.isOn = true;
  await expect(write('cleared', 10)).rejects.toThrow();
  failure.isOn = false;
  await write('cleared', 60_000);
  expect(await episodes.history(alarm)).toEqual([eventOf('opened', 0), eventOf('cleared', 60_000)]);
});

test('Alarm episode: its history cannot be written: no row is written, and the next attempt writes both', async () => {
  const { episodes, failure } = await openFailing('alarm_event', true);
  const alarm = alarmOf(1, 0);
  const write = () => episodes.write(0, alarm, writeTimestamp(NOW), [eventOf('opened', 0)]);
  await expect(write()).rejects.toThrow();
  expect(await episodes.find(alarm)).toBeNull();
  failure.isOn = false;
  await write();
  expect(await episodes.find(alarm)).toMatchObject({ start: NOW });
  expect(await episodes.history(alarm)).toEqual([eventOf('opened', 0)]);
});

test('Alarm episode: the write to alarm_by_day fails: nothing is stored, and the next attempt writes both rows', async () => {
  const { episodes, failure } = await openFailing('alarm_by_day', true);
  const alarm = alarmOf(1, 0);
  await expect(episodes.write(0, alarm, writeTimestamp(NOW))).rejects.toThrow();
  expect(await episodes.find(alarm)).toBeNull();
  failure.isOn = false;
  await episodes.write(0, alarm, writeTimestamp(NOW));
  expect((await episodes.ofDay(NOW - (NOW % 86_400_000), NOW, 10)).map(({ start }) => start)).toEqual([NOW]);
  expect(await episodes.find(alarm)).toMatchObject({ start: NOW });
});
