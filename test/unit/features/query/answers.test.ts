import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Fill, GROUP_KEYS, tableRows } from '../../../../api/features/query/answers.ts';
import { calendarGrid } from '../../../../api/features/query/calendar.ts';
import { addGroups, readAligned } from '../../../../api/features/shared/selection/aligned.ts';
import type { SelectedSensor } from '../../../../api/features/shared/selection/sensors.ts';
import type { Aggregate } from '../../../../api/history/reading/bins.ts';
import { type Grid, uniformGrid } from '../../../../api/history/reading/grid.ts';
import type { Range } from '../../../../api/history/reading/hours.ts';
import { readBins } from '../../../../api/history/reading/series.ts';
import { hourStatisticsOf } from '../../../../schema/packed/statistics.ts';
import { alignedOf } from '../../../support/history/brute-force.ts';
import type { Sample } from '../../../support/history/index.ts';
import { runs } from '../../../support/runs.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const QUARTER = HOUR / 4;
const MINUTE = 60_000;

/** Time zones, each with a day. On most of these days the clocks change. */
const DAYS: Array<[zone: string, day: number]> = [
  ['Europe/Berlin', Date.UTC(2026, 2, 29)],
  ['Europe/Berlin', Date.UTC(2026, 9, 25)],
  ['America/New_York', Date.UTC(2026, 2, 8)],
  ['America/New_York', Date.UTC(2026, 10, 1)],
  // The clocks change by half an hour.
  ['Australia/Lord_Howe', Date.UTC(2026, 3, 4)],
  // The clocks skip midnight.
  ['Asia/Beirut', Date.UTC(2026, 2, 28)],
  ['Asia/Kolkata', Date.UTC(2026, 5, 1)],
];

/** How an hour is stored. `late`: some samples arrived after packing. */
type Fate = 'packed' | 'late' | 'batches';
type StoredHour = { hour: number; fate: Fate; samples: Sample[] };
/** Width of a bin: ms, or a unit of the calendar. */
type Step = number | 'day' | 'week';

const FATES = ['packed', 'late', 'batches'] as Fate[];
const STEPS = ['day', 'week', HOUR, 90 * MINUTE, 25 * MINUTE, DAY] as Step[];
const GROUPS = ['sensor', 'site'] as Array<'sensor' | 'site'>;
const FILLS = ['none', 'previous', 'null'] as Fill[];

/** Values are multiples of 1/8, so that sums are exact in any order. */
const value = fc.integer({ min: -4000, max: 4000 }).map((number) => number / 8);

/** @param begin epoch ms @returns stored hours with gaps */
function hoursFrom(begin: number): fc.Arbitrary<StoredHour[]> {
  const samples = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: HOUR - 1 }), value), {
    selector: ([offset]) => offset,
    minLength: 1,
    maxLength: 6,
  });
  const stored = fc
    .record({ index: fc.integer({ min: 0, max: 150 }), fate: fc.constantFrom(...FATES), samples })
    .map(({ index, fate, samples }) => ({
      hour: begin + index * HOUR,
      fate,
      samples: samples
        .map(([offset, number]) => [begin + index * HOUR + offset, number] as Sample)
        .sort(([a], [b]) => a - b),
    }));
  return fc
    .uniqueArray(stored, { selector: ({ hour }) => hour, maxLength: 20 })
    .map((hours) => hours.toSorted((a, b) => a.hour - b.hour));
}

const seriesOf = (samples: Sample[]) => ({
  times: samples.map(([ts]) => ts),
  values: samples.map(([, number]) => number),
});

/** Simulates the stored history of some sensors in memory. @param sensors by the first byte of their device */
function historyOf(sensors: StoredHour[][]): Parameters<typeof readBins>[0] {
  const hoursOf = (device: Buffer, from: number, to: number) =>
    (sensors[Number(device[0])] ?? []).filter(({ hour }) => hour >= from && hour < to);
  const source = {
    packed: {
      readSamples: async ({ device }: { device: Buffer }, from: number, to: number) =>
        new Map(
          hoursOf(device, from, to)
            .filter(({ fate }) => fate !== 'batches')
            .map(({ hour, fate, samples }) => {
              const late = samples.filter((_, index) => fate === 'late' && index % 2 === 1);
              const packed = samples.filter((sample) => !late.includes(sample));
              return [hour, [packed, late].map(seriesOf)] as const;
            }),
        ),
    },
    samples: {
      readHour: async (device: Buffer, _: Buffer, from: number) => {
        const hour = Math.floor(from / HOUR) * HOUR;
        const [stored] = hoursOf(device, hour, hour + HOUR);
        return seriesOf(stored?.fate === 'batches' ? stored.samples : []);
      },
    },
  };
  return {
    source: { ...source, scans: source },
    lookUp: async ({ device }: { device: Buffer }, from: number, to: number) =>
      hoursOf(device, from, to).map(({ hour, fate, samples }) => ({
        hour,
        packed: fate !== 'batches',
        exact: fate === 'packed' ? hourStatisticsOf(seriesOf(samples).values) : null,
        count: fate === 'batches' ? null : samples.length,
      })),
  } as unknown as Parameters<typeof readBins>[0];
}

/** @param width ms @returns edges of bins */
function uniformEdges({ from, to }: Range, width: number): number[] {
  const edges = [Math.floor(from / width) * width];
  while (Number(edges.at(-1)) < to) edges.push(Number(edges.at(-1)) + width);
  return edges;
}

/** Finds the edges of days or weeks. It checks the calendar date of each quarter of an hour. */
function calendarEdges({ from, to }: Range, unit: 'day' | 'week', zone: string): number[] {
  const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
  const numberOf = (ts: number): number => {
    const days = Date.parse(calendar.format(ts)) / DAY;
    return unit === 'day' ? days : Math.floor((days + 3) / 7);
  };
  let at = Math.floor(from / QUARTER) * QUARTER;
  while (numberOf(at - QUARTER) === numberOf(at)) at -= QUARTER;
  const edges = [at];
  while (Number(edges.at(-1)) < to) {
    at += QUARTER;
    if (numberOf(at) !== numberOf(at - QUARTER)) edges.push(at);
  }
  return edges;
}

/** Returns the expected rows of a group, computed in the simplest way. @param columns of all bins */
function rowsOf(
  label: string,
  columns: Record<string, Array<number | null>>,
  { edges, aggregates, fill }: { edges: number[]; aggregates: string[]; fill: string },
) {
  const counts = columns['count'] ?? [];
  return counts.flatMap((count, bin) => {
    if (fill === 'none' && count === 0) return [];
    let from = bin;
    if (fill === 'previous') while (from > 0 && counts[from] === 0) from--;
    const cells = aggregates.map((name) => columns[name]?.[name === 'count' ? bin : from] ?? null);
    return [[new Date(Number(edges[bin])).toISOString(), label, ...cells]];
  });
}

const query = fc.constantFrom(...DAYS).chain(([zone, day]) =>
  fc.record({
    zone: fc.constant(zone),
    sensors: fc.array(hoursFrom(day - 3 * DAY), { minLength: 1, maxLength: 3 }),
    from: fc.integer({ min: 0, max: 3 * DAY }).map((offset) => day - 3 * DAY + offset),
    length: fc.integer({ min: 1, max: 4 * DAY }),
    step: fc.constantFrom(...STEPS),
    group: fc.constantFrom(...GROUPS),
    fill: fc.constantFrom(...FILLS),
  }),
);

/** @returns the same bins in both forms */
const binsOf = (range: Range, step: Step, zone: string): { grid: Grid; edges: number[] } =>
  typeof step === 'number'
    ? { grid: uniformGrid(range, step), edges: uniformEdges(range, step) }
    : { grid: calendarGrid(range, step, zone), edges: calendarEdges(range, step, zone) };

/** @param samples of each sensor, in order of time */
const selectedOf = (samples: Sample[][]): SelectedSensor[] =>
  samples.map((list, index) => {
    const row = { deviceId: `d${index}`, deviceName: null, id: 's', name: 's', unit: null, site: 'here' };
    const key = { group: 0, device: Buffer.from([index]), sensor: Buffer.alloc(16) };
    return { key, row: { ...row, type: null }, newest: list.at(-1)?.[0] ?? null } as never;
  });

test('Aggregation in time bins: random histories, time zones, groups and fills: the rows equal those of a brute-force model', async () => {
  await fc.assert(
    fc.asyncProperty(query, async ({ zone, sensors, from, length, step, group, fill }) => {
      const range = { from, to: from + length };
      const { grid, edges } = binsOf(range, step, zone);
      const all: Aggregate[] = ['avg', 'min', 'max', 'count', 'sum', 'first', 'last'];
      const aggregates = group === 'sensor' ? all : all.slice(0, -2);
      const samples = sensors.map((hours) => hours.flatMap((hour) => hour.samples));

      const { signal } = new AbortController();
      const read = readAligned(
        { bins: (...args) => readBins(historyOf(sensors), ...args) },
        selectedOf(samples),
        range,
        { grid, signal },
      );
      const found = [];
      const shape = { grid, aggregates, fill, group };
      for await (const rows of tableRows(addGroups(read, GROUP_KEYS[group]), shape))
        for (const row of rows)
          found.push([row['ts'], row['device'] ?? row['site'], ...aggregates.map((name) => row[name])]);

      const groups = group === 'site' ? [samples.flat()] : samples;
      const wanted = groups.flatMap((list, index) =>
        rowsOf(group === 'site' ? 'here' : `d${index}`, alignedOf(list, range, edges), {
          edges,
          aggregates,
          fill,
        }),
      );
      expect(found).toEqual(wanted);
    }),
    { numRuns: runs(100) },
  );
});
