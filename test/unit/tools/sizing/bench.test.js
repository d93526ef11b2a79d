import { describe, expect, test } from '@jest/globals';
import { errorsOf } from '../../../../tools/sizing/costs.js';
import { FIGURES } from './plan.js';

const { throughput, machine, packing } = FIGURES;
const WAYS = /** @type {const} */ (['packed', 'rows']);
const LOADS = Object.entries(throughput);

describe('Sizing: figures of the bench', () => {
  test.each(LOADS)(
    'Sizing: load %s of the bench: all cores of its machine were busy, and no more',
    (_, ways) => {
      for (const way of WAYS) {
        const { rate, ingest, database, broker } = ways[way];
        const busy = ((ingest + database + broker) * rate) / 1e6;
        expect(busy).toBeLessThanOrEqual(machine.processors * 1.02);
        expect(busy).toBeGreaterThan(machine.processors * 0.6);
      }
    },
  );

  test('packing: more than one hour of a sensor each second', () => {
    expect(packing.loaded).toBeGreaterThan(1);
    expect(packing.alone).toBeGreaterThan(packing.loaded);
  });
});

describe('Sizing: calculation', () => {
  test('every measurement: the error is below the headroom', () => {
    for (const process of /** @type {const} */ (['ingest', 'database', 'broker'])) {
      for (const error of Object.values(errorsOf(throughput, process))) {
        expect(error).toBeGreaterThan(-0.5);
        expect(error).toBeLessThan(0.5);
      }
    }
  });
});
