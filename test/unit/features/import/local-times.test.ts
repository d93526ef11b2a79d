import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dryRun } from '../../../support/features/import/dry-run.ts';

const HOUR_MS = 3_600_000;
const FROM = Date.UTC(2026, 0);
const DAY_MS = 24 * HOUR_MS;

/** @returns changes of clocks in 2026, with offsets in ms */
function changesOf(name: string): Array<{ change: number; before: number; after: number }> {
  const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  const offset = (time: number) => {
    const [, sign, hours = 0, minutes = 0] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(format.format(time)) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * 60_000);
  };
  const found = [];
  for (let time = FROM; time < FROM + 365 * DAY_MS; time += DAY_MS) {
    if (offset(time) === offset(time + DAY_MS)) continue;
    let change = time;
    while (offset(change) === offset(time)) change += 30 * 60_000;
    found.push({ change, before: offset(time), after: offset(change) });
  }
  return found;
}

/** One zone for each sequence of changes, because hundreds of zones have the rule of the European Union or the United States. */
const CHANGES = [
  ...new Map(
    Intl.supportedValuesOf('timeZone').map((name) => {
      const changes = changesOf(name);
      return [JSON.stringify(changes), changes.map((change) => ({ name, ...change }))];
    }),
  ).values(),
].flat();

const localText = (local: number) => new Date(local).toISOString().slice(0, 19).replace('T', ' ');

test('Import with a zone: each change of clocks of 2026 in the tz database, steps below an hour: rising rows get their instants, in wide and long files', async () => {
  expect(CHANGES.length).toBeGreaterThan(20);
  const stepMinutes = fc.constantFrom(5, 7, 10, 15, 20, 30);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...CHANGES),
      stepMinutes,
      fc.integer({ min: 0, max: 59 }),
      async (zone, step, shift) => {
        const begin = zone.change - 2 * HOUR_MS + shift * 60_000;
        const times = Array.from(
          { length: Math.floor((5 * 60) / step) },
          (_, index) => begin + index * step * 60_000,
        );
        const local = (time: number) => localText(time + (time < zone.change ? zone.before : zone.after));
        const wide = [
          'ts,a,b',
          ...times.map((time, index) => `${local(time)},${index},${index % 2 ? '' : index}`),
        ];
        const long = [
          'ts,sensor,value',
          ...['a', 'b'].flatMap((sensor) => times.map((time) => `${local(time)},${sensor},1`)),
        ];
        for (const lines of [wide, long]) {
          const { refused, first, progress } = await dryRun(lines.join('\n'), {
            device: 'd',
            zone: zone.name,
          });
          expect(refused).toEqual([]);
          expect(progress.merged).toBe(0);
          const stored = first.filter(({ sensor }) => sensor === 'a').map(({ ts }) => Date.parse(ts));
          expect(stored).toEqual(times.slice(0, stored.length));
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** @param clocks times of a day on which clocks of Berlin go back */
async function berlin(...clocks: string[]): Promise<{ stored: string[]; refused: number[] }> {
  const csv = ['ts,a', ...clocks.map((clock, index) => `2026-10-25 ${clock},${index}`)].join('\n');
  const { first, refused } = await dryRun(csv, { device: 'd', zone: 'Europe/Berlin' });
  return { stored: first.map(({ ts }) => ts.slice(11, 16)), refused: refused.map(({ line }) => line).sort() };
}

test.each([
  ['an hour step', ['01:00', '02:00', '02:00', '03:00'], ['23:00', '00:00', '01:00', '02:00'], []],
  [
    'the file begins and ends in the hour',
    ['02:15', '02:45', '02:15', '02:45'],
    ['00:15', '00:45', '01:15', '01:45'],
    [],
  ],
  [
    'the first pass is cut short',
    ['02:10', '02:05', '02:55', '03:00'],
    ['00:10', '01:05', '01:55', '02:00'],
    [],
  ],
  ['one pass alone', ['01:30', '02:30', '03:30'], ['23:30', '02:30'], [3]],
  [
    'newest row first',
    ['03:00', '02:30', '02:00', '02:30', '02:00', '01:30'],
    ['02:00', '23:30'],
    [3, 4, 5, 6],
  ],
  ['newest row first, an hour step', ['03:00', '02:00', '02:00', '01:00'], ['02:00', '23:00'], [3, 4]],
])(
  'Import with a zone: the hour comes twice, %s: decided by rising rows, otherwise refused',
  async (_, clocks, stored, refused) => {
    expect(await berlin(...clocks)).toEqual({ stored, refused });
  },
);

test('Import with a zone: a row has its own offset: the offset counts', async () => {
  const { first } = await dryRun('ts,a\n2026-10-25T02:30+02:00,1\n2026-11-01T10:00:00Z,2\n', {
    device: 'd',
    zone: 'Europe/Berlin',
  });
  expect(first.map(({ ts, local }) => [ts, local])).toEqual([
    ['2026-10-25T00:30:00.000Z', '2026-10-25 02:30:00.000 +02:00'],
    ['2026-11-01T10:00:00.000Z', '2026-11-01 11:00:00.000 +01:00'],
  ]);
});
