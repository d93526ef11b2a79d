import { expect, test } from '@jest/globals';
import { MillraceError } from '../../../../common/errors.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { createFleetCase, expectFindings, HOUR_MS, START } from '../../../support/simulator/ledger-case.ts';

type Parts = Record<string, Record<string, (...args: unknown[]) => unknown>>;

const afterwards = useCleanUps();
const away = () => new MillraceError('unavailable', 'no replica answers');

/** Every read function of the store, with its table. */
const READS = [
  ['samples', 'readDeviceHour'],
  ['packed', 'readStatistics'],
  ['packed', 'readHour'],
  ['packProgress', 'read'],
  ['fleet', 'latestOfDevice'],
] as const;

/** Creates a fleet with packed hours and one unpacked hour, so that every read is needed. */
function createCase(table: string, read: string, failureOf: (call: number) => Error | null) {
  const fleet = createFleetCase(afterwards);
  fleet.pack(START + 3 * HOUR_MS);
  fleet.send('collar', 'pulse', [[START + 3 * HOUR_MS, 62]]);
  const store = fleet.open();
  const part = (store as unknown as Parts)[table] ?? {};
  const original = part[read];
  let calls = 0;
  part[read] = async (...args: unknown[]) => {
    const failure = failureOf(++calls);
    if (failure) throw failure;
    return original?.(...args);
  };
  return { compare: () => fleet.compare({ store, pauseMs: 0 }), calls: () => calls };
}

test.each(READS)('Ledger comparison: %s.%s() fails twice: the read is repeated', async (table, read) => {
  const { compare } = createCase(table, read, (call) => (call <= 2 ? away() : null));
  expectFindings(await compare(), {});
});

test('Ledger comparison: 60 attempts of a read fail: the comparison fails with the error of the database', async () => {
  const { compare, calls } = createCase('fleet', 'latestOfDevice', away);
  await expect(compare()).rejects.toMatchObject({ code: 'unavailable' });
  // The comparison reads two devices at once. The first error ends it.
  expect(calls()).toBeGreaterThanOrEqual(60);
  expect(calls()).toBeLessThanOrEqual(120);
});

test.each([
  ['another error of the database', new MillraceError('rejected', 'no such column')],
  ['a defect', new TypeError('not a function')],
])('Ledger comparison: a read fails by %s: the read is not repeated', async (_, failure) => {
  const { compare, calls } = createCase('samples', 'readDeviceHour', () => failure);
  await expect(compare()).rejects.toBe(failure);
  expect(calls()).toBeLessThanOrEqual(2);
});
