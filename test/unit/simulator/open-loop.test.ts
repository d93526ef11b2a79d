import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createOpenSchedule, Pacer, sampleIntervalMs } from '../../../simulator/fleet/pacer.ts';
import { until } from '../../support/until.ts';

const START = Date.UTC(2026, 10, 21, 10);

/** Largest rounding error of divided and added epoch milliseconds in doubles, in ms. */
const ROUNDING_MS = 1e-3;

test('Simulator at a fixed rate: random rates: samples have even distances, ascending times and no time after their message', () => {
  const sizes = fc.record({
    devices: fc.integer({ min: 1, max: 40 }),
    perSecond: fc.double({ min: 0.1, max: 1000, noNaN: true }),
    samples: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(sizes, (size) => {
      fc.pre(sampleIntervalMs(size) >= 1);
      const schedule = createOpenSchedule({ ...size, startedAt: START });
      const device = size.devices - 1;
      const turns = [0, 1, 2, 3].map((turn) => turn * size.devices + device);
      expect(turns.map(schedule.device)).toEqual(turns.map(() => device));
      const sent = turns.map(schedule.times);
      const ahead = sent.map(
        (own, i) => Number(own.at(-1)) - START - (Number(turns[i]) * 1000) / size.perSecond,
      );
      expect(Math.max(...ahead)).toBeLessThanOrEqual(ROUNDING_MS);
      const times = sent.flat();
      expect(times).toHaveLength(4 * size.samples);
      expect(times.every(Number.isInteger)).toBe(true);
      const gaps = times.slice(1).map((ts, i) => ts - Number(times[i]));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1);
      const uneven = gaps.map((gap) => Math.abs(gap - sampleIntervalMs(size)));
      expect(Math.max(...uneven)).toBeLessThanOrEqual(1 + ROUNDING_MS);
    }),
  );
});

describe('Open loop: pacer', () => {
  let pacer: Pacer | undefined;
  afterEach(() => pacer?.stop());

  function startPacer(options: ConstructorParameters<typeof Pacer>[0]) {
    pacer = new Pacer(options);
    pacer.start();
    return pacer;
  }

  test('Simulator pacer: one call takes 60 ms: later calls keep their intended times, no call is early or left out', async () => {
    // The clock jumps ahead, so that the test need not be busy for 60 ms.
    let leapt = 0;
    const now = () => performance.now() + leapt;
    const due: number[] = [];
    const early: number[] = [];
    const pacer = startPacer({
      perSecond: 1000,
      now,
      onDue(index, dueAt) {
        due[index] = dueAt;
        if (index === 50) leapt += 60;
        early.push(dueAt - now());
      },
    });
    await until(() => due.length > 200);
    pacer.stop();
    expect(Math.max(...early)).toBeLessThanOrEqual(0);
    const count = due.length;
    const intended = Array.from({ length: count }, (_, index) => index);
    expect(Array.from(due, (at) => Math.round(at - Number(due[0])))).toEqual(intended);
    await new Promise((resolve) => setTimeout(resolve));
    expect(due).toHaveLength(count);
  });

  test('Simulator pacer: the rate cannot be reached: behindMs() reports the lag, and timers still run', async () => {
    const pacer = startPacer({ perSecond: 1e9, onDue: () => {} });
    await until(() => pacer.behindMs() > 20);
    await new Promise((resolve) => setTimeout(resolve));
    expect(pacer.behindMs()).toBeGreaterThan(20);
  });
});
