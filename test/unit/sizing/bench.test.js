import { describe, expect, test } from '@jest/globals';
import { costOf, messageCost, missesOf } from '../../../tools/sizing/costs.js';
import { FIGURES } from './plan.js';

const { throughput, machine, packing } = FIGURES;
const WAYS = /** @type {const} */ (['packed', 'rows']);
const LOADS = Object.entries(throughput);

describe('Sizing: figures of the bench', () => {
  test.each(LOADS)('load %s: all cores of its machine were busy, and no more', (_, ways) => {
    for (const way of WAYS) {
      const { rate, ingest, database, broker } = ways[way];
      const busy = ((ingest + database + broker) * rate) / 1e6;
      expect(busy).toBeLessThanOrEqual(machine.processors * 1.02);
      expect(busy).toBeGreaterThan(machine.processors * 0.6);
    }
  });

  test('packing: more than one hour of a sensor each second', () => {
    expect(packing.loaded).toBeGreaterThan(1);
    expect(packing.alone).toBeGreaterThan(packing.loaded);
  });
});

describe('Sizing: calculation', () => {
  test.each(LOADS)('load %s: no greater advantage of packed batches than measured', (name, ways) => {
    const [sensors = 1, samples = 1] = name.split('x').map(Number);
    const both = (/** @type {'packed' | 'rows'} */ way) =>
      messageCost(costOf(throughput, way, 'ingest'), { sensors, samples }) +
      messageCost(costOf(throughput, way, 'database'), { sensors, samples });
    const measured = (ways.rows.ingest + ways.rows.database) / (ways.packed.ingest + ways.packed.database);
    expect(both('rows') / both('packed')).toBeLessThan(measured * 1.25);
    expect(both('rows') / both('packed')).toBeGreaterThan(measured * 0.5);
  });

  test('every measurement: the error is below the headroom', () => {
    for (const process of /** @type {const} */ (['ingest', 'database', 'broker'])) {
      for (const miss of Object.values(missesOf(throughput, 'packed', process))) {
        expect(miss).toBeGreaterThan(-0.5);
        expect(miss).toBeLessThan(0.5);
      }
    }
  });
});
