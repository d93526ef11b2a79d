import { describe, expect, test } from '@jest/globals';
import { sumOf } from '../../../../tools/bench/environment/ingest.ts';
import { pace } from '../../../../tools/bench/load/open-loop.ts';
import { machineShares, parseMachineTime } from '../../../../tools/bench/measure/machine.ts';

describe('Bench: machine', () => {
  test('Bench machine: steal and CPU time of other programs are shares of the total time', () => {
    const before = parseMachineTime('cpu  100 0 50 1000 10 0 5 20 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n');
    const after = parseMachineTime('cpu  160 10 70 1060 20 5 10 50 60 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n');
    expect(before).toEqual({ all: 1185, idle: 1010, stolen: 20 });
    // In 1/100 s: 200 in all, of which 30 are stolen, 70 idle and 100 used. The bench itself used 60.
    expect(machineShares(before, after, 0.6)).toEqual({ steal: 0.15, others: 0.2 });
  });
});

test('Bench: a metric is summed over its labels, and metrics with longer names are left out', () => {
  const text = '# HELP a x\na_total{code="b"} 3\na_total{code="c d"} 4\na_total_more 100\nb 1.5e3\n';
  expect(sumOf(text, 'a_total')).toBe(7);
  expect(sumOf(text, 'b')).toBe(1500);
  expect(sumOf(text, 'c')).toBe(0);
});

test('Bench open loop: 2,000 requests a second for 100 ms: 200 requests are sent, at evenly spaced intended times', async () => {
  const intended: number[] = [];
  const sent = await pace({ rate: 2000, forMs: 100, send: (at) => intended.push(at) });
  expect(sent).toBe(200);
  expect(intended).toHaveLength(200);
  expect(Number(intended.at(-1)) - Number(intended[0])).toBeCloseTo(199 / 2, 3);
});
