import { describe, expect, test } from '@jest/globals';
import { LINKS, NODES, type Plan, PROCESSES, planFaults } from '../../../chaos/plan.ts';

const faultsOf = ({ series }: Plan) => Object.values(series).flat();
const seeds = Array.from({ length: 40 }, (_, seed) => seed);

describe('Plan of a drill', () => {
  test('Plan of a drill: equal seed: equal faults; another seed: other faults', () => {
    const plan = planFaults({ seed: 7, kills: 50 });
    expect(planFaults({ seed: 7, kills: 50 })).toEqual(plan);
    expect(planFaults({ seed: 8, kills: 50 })).not.toEqual(plan);
  });

  test.each([1, 3, 20, 50, 1000])('Plan of a drill: %i kills: exactly so many kills', (kills) => {
    for (const seed of seeds) {
      const faults = faultsOf(planFaults({ seed, kills }));
      expect(faults.filter(({ kind }) => kind === 'kill')).toHaveLength(kills);
    }
  });

  test('Plan of a drill: 50 kills: every part fails in every way, and nodes fail in one series only', () => {
    for (const seed of seeds) {
      const plan = planFaults({ seed, kills: 50 });
      const planned = new Set(faultsOf(plan).map(({ kind, target }) => `${kind} ${target}`));
      const broker = plan.brokerForgets ? 'kill Mosquitto' : 'restart Mosquitto';
      const all = ['kill Kafka', 'outage the database', 'pause Mosquitto', broker];
      for (const target of [...NODES, ...PROCESSES]) all.push(`kill ${target}`, `pause ${target}`);
      for (const target of PROCESSES) all.push(`clock ${target}`);
      for (const target of LINKS) all.push(`cut ${target}`);
      expect([...planned].sort()).toEqual(all.sort());
      const { database = [], ...others } = plan.series;
      const targets = Object.values(others).flatMap((faults) => faults.map(({ target }) => target));
      expect(database.every(({ target }) => [...NODES, 'the database'].includes(target))).toBe(true);
      expect(targets.filter((target) => NODES.includes(target))).toEqual([]);
    }
  });

  test('Plan of a drill: Mosquitto is killed in some drills, and stopped in others', () => {
    const forgets = seeds.filter((seed) => planFaults({ seed, kills: 50 }).brokerForgets);
    expect(forgets.length).toBeGreaterThan(10);
    expect(forgets.length).toBeLessThan(30);
  });
});
