import { describe, expect, test } from '@jest/globals';
import { sumOf } from '../../../../tools/bench/environment/ingest.ts';
import { pace } from '../../../../tools/bench/load/open-loop.ts';
import { machineShares, parseMachineTime, slopeOf } from '../../../../tools/bench/measure/machine.ts';
import { createGate } from '../../../../tools/bench/variants/gate.ts';
import { withPermit } from '../../../support/permit.ts';

describe('Bench: machine', () => {
  test('Bench machine: steal and CPU time of other programs are shares of the total time', () => {
    const before = parseMachineTime('cpu  100 0 50 1000 10 0 5 20 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n');
    const after = parseMachineTime('cpu  160 10 70 1060 20 5 10 50 60 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n');
    expect(before).toEqual({ all: 1185, idle: 1010, stolen: 20 });
    // In 1/100 s: 200 in all, of which 30 are stolen, 70 idle and 100 used. The bench itself used 60.
    expect(machineShares(before, after, 0.6)).toEqual({ steal: 0.15, others: 0.2 });
  });
});

describe('Bench: memory', () => {
  test('Bench memory: growth of memory: slope of the regression line, in MB per hour', () => {
    const points = Array.from({ length: 10 }, (_, at) => ({
      seconds: at * 60,
      mb: 200 + at + (at % 2 ? 0.1 : -0.1),
    }));
    expect(slopeOf(points)).toBeCloseTo(60, 0);
    expect(slopeOf([{ seconds: 1, mb: 1 }])).toBeNaN();
  });
});

test('Bench: a metric is summed over its labels, and metrics with longer names are left out', () => {
  const text = '# HELP a x\na_total{code="b"} 3\na_total{code="c d"} 4\na_total_more 100\nb 1.5e3\n';
  expect(sumOf(text, 'a_total')).toBe(7);
  expect(sumOf(text, 'b')).toBe(1500);
  expect(sumOf(text, 'c')).toBe(0);
});

describe('Bench: gate', () => {
  test('Bench gate: a limit of two: two requests run at once, and five after the limit is raised to five', async () => {
    const gate = createGate();
    gate.set(2);
    let inFlight = 0;
    let most = 0;
    const answers: Array<() => void> = [];
    const request = async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => answers.push(() => resolve(undefined)));
      inFlight--;
    };
    const all = Promise.all(Array.from({ length: 10 }, () => withPermit(gate, request)));
    await Promise.resolve();
    expect(most).toBe(2);
    gate.set(5);
    await new Promise(setImmediate);
    expect(most).toBe(5);
    while (inFlight > 0) {
      answers.shift()?.();
      await new Promise(setImmediate);
    }
    await all;
    expect(most).toBe(5);
  });

  test('Bench gate: a request fails: the next request can run', async () => {
    const gate = createGate();
    gate.set(1);
    await expect(withPermit(gate, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(withPermit(gate, async () => 'yes')).resolves.toBe('yes');
  });
});

test('Bench open loop: 2,000 requests a second for 100 ms: 200 requests are sent, at evenly spaced intended times', async () => {
  const intended: number[] = [];
  const sent = await pace({ rate: 2000, forMs: 100, send: (at) => intended.push(at) });
  expect(sent).toBe(200);
  expect(intended).toHaveLength(200);
  expect(Number(intended.at(-1)) - Number(intended[0])).toBeCloseTo(199 / 2, 3);
});
