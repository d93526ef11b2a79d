import { describe, expect, test } from '@jest/globals';
import { costOf, messageCost, missesOf } from '../../../tools/sizing/costs/costs.js';
import { FIGURES } from './plan.js';

const { throughput, machine, packing } = FIGURES;
const WAYS = /** @type {const} */ (['packed', 'rows']);
const LOADS = Object.entries(throughput);

describe('what the bench measured', () => {
  test.each(LOADS)('at %s kept the cores of its machine busy, and no more than these', (_, ways) => {
    for (const way of WAYS) {
      const { rate, ingest, database, broker } = ways[way];
      const busy = ((ingest + database + broker) * rate) / 1e6;
      expect(busy).toBeLessThanOrEqual(machine.processors * 1.02);
      expect(busy).toBeGreaterThan(machine.processors * 0.6);
    }
  });

  test('of packing is more than an hour of a sensor a second', () => {
    expect(packing.loaded).toBeGreaterThan(1);
    expect(packing.alone).toBeGreaterThan(packing.loaded);
  });
});

describe('what is calculated', () => {
  test.each(LOADS)('gives packed batches at %s no more of an advantage than was measured', (name, ways) => {
    const [sensors = 1, samples = 1] = name.split('x').map(Number);
    const both = (/** @type {'packed' | 'rows'} */ way) =>
      messageCost(costOf(throughput, way, 'ingest'), { sensors, samples }) +
      messageCost(costOf(throughput, way, 'database'), { sensors, samples });
    const measured = (ways.rows.ingest + ways.rows.database) / (ways.packed.ingest + ways.packed.database);
    expect(both('rows') / both('packed')).toBeLessThan(measured * 1.25);
    expect(both('rows') / both('packed')).toBeGreaterThan(measured * 0.5);
  });

  test('misses no measurement by more than the headroom forgives', () => {
    for (const process of /** @type {const} */ (['ingest', 'database', 'broker'])) {
      for (const miss of Object.values(missesOf(throughput, 'packed', process))) {
        expect(miss).toBeGreaterThan(-0.5);
        expect(miss).toBeLessThan(0.5);
      }
    }
  });
});
