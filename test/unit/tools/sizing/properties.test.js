import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { installationOf } from '../../../../tools/sizing/formula.js';
import { LIMITS, limitsOf } from '../../../../tools/sizing/limits.js';
import { FIGURES, planOf } from './plan.js';

const { fleet, parts } = planOf();

/** @param {Partial<typeof fleet>} more @param {Partial<typeof parts>} other */
const sized = (more, other) => installationOf({ ...fleet, ...more }, { ...parts, ...other }, FIGURES);

/** @param {ReturnType<typeof installationOf>} installation @returns {Record<string, number>} what must never fall */
const sizesOf = ({
  requests,
  rows,
  registryReads,
  groups,
  stored,
  nodes,
  vcpus,
  diskBytes,
  processes,
  broker,
  network,
  busy,
}) => ({
  requests,
  rows,
  registryReads,
  groups,
  stored: stored.all,
  partitions: stored.partitions,
  byCpu: nodes.byCpu,
  byDisk: nodes.byDisk,
  nodes: nodes.count,
  vcpus,
  diskBytes,
  processes,
  connections: broker.connections,
  births: broker.births,
  cores: broker.cores,
  received: network.received,
  written: network.written,
  busy,
});

/** @param {Partial<typeof fleet>[]} fleets @param {Partial<typeof parts>[]} others the smaller first */
function expectNoLess([less = {}, more = {}], [fewer = {}, further = {}] = []) {
  const large = sizesOf(sized(more, further));
  for (const [name, size] of Object.entries(sizesOf(sized(less, fewer)))) {
    expect([name, Number(large[name]) >= size * (1 - 1e-9)]).toEqual([name, true]);
  }
}

const sensors = fc.integer({ min: 10, max: 1e9 });

test('Sizing: more sensors: never fewer resources', () => {
  fc.assert(
    fc.property(sensors, fc.double({ min: 1, max: 100, noNaN: true }), (few, times) => {
      expectNoLess([{ sensors: few }, { sensors: few * times }]);
    }),
    { numRuns: 25 },
  );
});

test('Sizing: longer retention, shorter intervals, more births, more copies: never fewer resources', () => {
  fc.assert(
    fc.property(sensors, fc.integer({ min: 1, max: 10 }), (some, times) => {
      const base = { sensors: some };
      expectNoLess([base, { ...base, historyDays: 365 * times }]);
      expectNoLess([base, { ...base, batchDays: 30 * times }]);
      expectNoLess([
        { ...base, bornEveryMs: 86_400_000 },
        { ...base, bornEveryMs: 86_400_000 / times },
      ]);
      expectNoLess([base, base], [{ replication: 1 }, { replication: times }]);
      expectNoLess([base, base], [{ headroom: 0.1 }, { headroom: 1 - 0.9 / times }]);
    }),
    { numRuns: 25 },
  );
});

test('Sizing: twice the sensors: twice the traffic; twice the rate: twice the samples in as many messages', () => {
  const once = sized({}, {});
  const twice = sized({ sensors: 2 * fleet.sensors }, {});
  const faster = sized({ intervalMs: fleet.intervalMs / 2 }, {});
  expect([twice.samples, twice.messages]).toEqual([2 * once.samples, 2 * once.messages]);
  expect(twice.stored.all / once.stored.all).toBeCloseTo(2);
  expect([faster.samples, faster.messages]).toEqual([2 * once.samples, once.messages]);
});

test('Sizing: copies: they multiply bytes, and not the traffic', () => {
  const [one, three] = [1, 3].map((replication) => sized({}, { replication }));
  expect(Number(three?.stored.all) / Number(one?.stored.all)).toBeCloseTo(3);
  expect(three?.requests).toBe(one?.requests);
});

test('Sizing: a limit: exceeded exactly at the calculated number of sensors', () => {
  const limits = limitsOf(fleet, parts, FIGURES);
  expect(limits.length).toBeGreaterThanOrEqual(LIMITS.length - 1);
  expect(limits.map(({ at }) => at)).toEqual(limits.map(({ at }) => at).sort((a, b) => a - b));
  for (const { at, passed } of limits) {
    const grown = (/** @type {number} */ count) => ({ ...fleet, sensors: count });
    expect(passed(installationOf(grown(at), parts, FIGURES), grown(at))).toBe(true);
    expect(passed(installationOf(grown(at / 1.01), parts, FIGURES), grown(at / 1.01))).toBe(false);
  }
});

test('Sizing: births alone fill every process: no number of processes is enough', () => {
  const { processes } = sized({ sensors: 1e12, bornEveryMs: 60_000 }, {});
  expect(processes).toBe(Number.POSITIVE_INFINITY);
});
