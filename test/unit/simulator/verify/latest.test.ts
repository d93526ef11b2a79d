import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import {
  createFleetCase,
  expectFindings,
  findingsOf,
  HOUR_MS,
  START,
} from '../../../support/simulator/ledger-case.ts';

const NOON = START + 2 * HOUR_MS;

const afterwards = useCleanUps();
const newFleet = () => createFleetCase(afterwards);

test.each([
  ['is older than the newest sample', [NOON + 1000, 60]],
  ['is another value', [NOON + 2000, 60]],
  ['is newer than anything stored', [NOON + 3000, 61]],
  ['is of an hour without samples', [NOON + HOUR_MS, 61]],
  ['is missing', [null, null]],
] as Array<[string, [number | null, number | null]]>)(
  'Ledger comparison: the latest value %s: reported as wrong',
  async (_, latest) => {
    const fleet = newFleet();
    fleet.setLatest('collar', 'pulse', latest);
    const result = await fleet.compare();
    expect(findingsOf(result)).toEqual({ latest: { count: 1, first: [`collar/pulse ${NOON + 2000}`] } });
    const is = latest[0] === null ? 'nothing' : `${latest[1]} at ${latest[0]}`;
    expect(result.found.latest.first[0]?.message).toBe(
      `latest has ${is}; the newest that is stored is 61 at ${NOON + 2000}`,
    );
  },
);

/** The range ends before the hour of the latest value. */
const range = { from: START, to: NOON };

test.each([
  ['is the newest of its hour', [NOON + 2000, 61], {}],
  ['is older than another one of its hour', [NOON + 1000, 60], { latest: 1 }],
  ['is another value', [NOON + 2000, 60], { latest: 1 }],
  ['has no sample in its hour', [NOON + 3000, 61], { latest: 1 }],
] as Array<[string, [number, number], Record<string, number>]>)(
  'Ledger comparison: the latest value after the range %s: findings %o',
  async (_, latest, kinds) => {
    const fleet = newFleet();
    fleet.setLatest('collar', 'pulse', latest);
    expectFindings(await fleet.compare({ range }), kinds);
  },
);

test('Ledger comparison: the latest value is older than samples in the range: reported as wrong', async () => {
  const fleet = newFleet();
  fleet.setLatest('collar', 'pulse', [START + 2000, 61]);
  expectFindings(await fleet.compare({ range: { from: START + HOUR_MS, to: NOON } }), { latest: 1 });
});

test('Ledger comparison: two values are stored for the latest instant: the greater one is accepted as latest value', async () => {
  const fleet = newFleet();
  fleet.store('collar', 'pulse', [[NOON + 2000, 99]]);
  fleet.setLatest('collar', 'pulse', [NOON + 2000, 99]);
  expectFindings(await fleet.compare({ range }), {});
});
