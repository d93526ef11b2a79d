import { expect, test } from '@jest/globals';
import { createSchedule } from '../../../simulator/fleet/scheduler.ts';

const DEVICES = 25;
const schedule = createSchedule({ devices: DEVICES, intervalMs: 1000, batchMs: 10_000 });
const indexes = Array.from({ length: DEVICES * 100 }, (_, index) => index);

test('Simulator schedule: each device measures once per interval, beginning in the first interval', () => {
  for (let device = 0; device < DEVICES; device += 1) {
    const due = indexes.filter((index) => schedule.device(index) === device).map(schedule.dueMs);
    expect(due[0]).toBeLessThanOrEqual(1000);
    expect(due.every((ms, step) => ms === Number(due[0]) + step * 1000)).toBe(true);
  }
});

test('Simulator schedule: a device sends its first measurement at once, then one batch per batch interval', () => {
  for (let device = 0; device < DEVICES; device += 1) {
    const own = indexes.filter((index) => schedule.device(index) === device);
    const ends = own.flatMap((index, step) => (schedule.endsBatch(index) ? [step] : []));
    expect(ends[0]).toBe(0);
    expect(Number(ends[1])).toBeLessThanOrEqual(10);
    expect(ends.slice(2).every((step, i) => step - Number(ends[i + 1]) === 10)).toBe(true);
  }
});
