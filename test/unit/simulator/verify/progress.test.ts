import { expect, test } from '@jest/globals';
import { groupOf, type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { createFleetCase } from '../../../support/simulator/ledger-case.ts';

type Parts = Record<string, Record<string, (...args: unknown[]) => unknown>>;

const afterwards = useCleanUps();

test('Ledger comparison: each table is read with the partition group of the device, from its id and LATEST_GROUPS', async () => {
  const fleet = createFleetCase(afterwards);
  const store = fleet.open();
  const groups: number[] = [];
  const watch = (table: string, read: string, groupIn: (key: never) => number) => {
    const part = (store as unknown as Parts)[table] ?? {};
    const original = part[read];
    part[read] = (...args: unknown[]) => {
      groups.push(groupIn(args[0] as never));
      return original?.(...args);
    };
  };
  watch('packProgress', 'read', (group: number) => group);
  watch('packed', 'readStatistics', ({ group }: { group: number }) => group);
  watch('fleet', 'latestOfDevice', ({ group }: { group: number }) => group);
  await fleet.compare({ store });
  const wanted = ['collar', 'machine'].map((name) => groupOf((identifyDevice(name) as Identity).bytes, 4));
  expect(new Set(groups)).toEqual(new Set(wanted));
});
