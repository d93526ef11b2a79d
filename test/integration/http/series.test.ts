import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { difference, seriesOf, widthOf } from '../../support/history/brute-force.ts';
import type { Fate, Sample } from '../../support/history/index.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useHistorySystem } from '../../support/system/history.ts';

const BEGIN = dayOf(Date.now() - 340 * DAY_MS);

const world = useHistorySystem(BEGIN);
const { clock } = world;

async function lay(
  name: string,
  hours: Array<{ hour: number; fate: Fate; samples: Sample[] }>,
): Promise<Sample[]> {
  const samples = await world.lay(name, hours);
  clock.now = BEGIN + 341 * DAY_MS;
  return samples;
}

const path = (name: string, query: string) => `/devices/${name}/sensors/s/series?${query}`;

async function ask(name: string, { from, to }: { from: number; to: number }, points: number) {
  const answer = await world.system.get(path(name, `from=${from}&to=${to}&points=${points}`));
  const bins = answer.points.map((point: { ts: string }) => ({ ...point, ts: Date.parse(point.ts) }));
  return { bins, width: answer.step_ms, source: answer.source };
}

async function expectBruteForce(
  name: string,
  samples: Sample[],
  range: { from: number; to: number },
  points: number,
) {
  const { bins, width, source } = await ask(name, range, points);
  expect(width).toBe(widthOf(range, points));
  expect(bins.length).toBeLessThanOrEqual(points);
  expect(difference(bins, seriesOf(samples, range, width))).toBeNull();
  return { width, source };
}

describe('Series: hours in every stored form', () => {
  const fates: Array<[hour: number, Fate]> = [
    [0, 'packed'],
    [1, 'packed, then late'],
    [2, 'nothing'],
    [3, 'late alone'],
    [4, 'packed'],
    [5, 'packed'],
    [6, 'packed, then late'],
    [7, 'packed'],
    [30, 'packed'],
    [31, 'late alone'],
    [900, 'packed'],
    [901, 'packed'],
    [4000, 'packed, then late'],
    [8000, 'packed'],
    [8001, 'packed'],
    [8002, 'batches'],
    [8003, 'batches'],
  ];
  let samples: Sample[];
  beforeAll(async () => {
    const hours = fates.map(([index, fate]) => {
      const hour = BEGIN + index * HOUR_MS;
      const count = fate === 'nothing' ? 0 : 1 + ((index * 37) % 90);
      return { hour, fate, samples: scattered(hour, count, index) };
    });
    samples = await lay('mixed', hours);
  });

  test('GET series: random range and number of points: points equal those of a plain loop over all samples', async () => {
    const instant = fc.oneof(
      fc.constantFrom(...fates.map(([index]) => BEGIN + index * HOUR_MS)),
      fc
        .tuple(fc.constantFrom(...fates), fc.integer({ min: -HOUR_MS, max: 2 * HOUR_MS }))
        .map(([[index], offset]) => BEGIN + index * HOUR_MS + offset),
    );
    const ranges = fc.tuple(instant, instant).filter(([a, b]) => a !== b);
    await fc.assert(
      fc.asyncProperty(ranges, fc.integer({ min: 2, max: 2000 }), async ([a, b], points) => {
        await expectBruteForce('mixed', samples, { from: Math.min(a, b), to: Math.max(a, b) }, points);
      }),
      { numRuns: 60 },
    );
  });

  test('GET series: range of whole hours: only hourly statistics are read, no samples', async () => {
    const hour = BEGIN + 900 * HOUR_MS;
    await world.history.dropPacked(world.history.sensorOf('mixed', 's'), hour);
    const range = { from: hour, to: hour + 2 * HOUR_MS };
    const { source } = await expectBruteForce('mixed', samples, range, 2);
    expect(source).toBe('statistics');
  });
});

test('GET series: sensor without samples: no points; unknown sensor: 404', async () => {
  await world.device.birth('newborn', { sensors: [{ sensor_id: 's' }] });
  expect((await world.system.get(path('newborn', ''))).points).toEqual([]);
  expectProblem(await send(world.system.httpUrl, `/api/v1${path('nobody', '')}`), 404, 'not_found');
});

/** @param hour epoch ms @returns irregular, of both signs, in order of time, with the first and the last instant of the hour */
function scattered(hour: number, count: number, seed: number): Sample[] {
  let state = seed + 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const times = new Set([hour, hour + HOUR_MS - 1]);
  while (times.size < count) times.add(hour + Math.floor(random() * HOUR_MS));
  return [...times]
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((ts) => [ts, (random() - 0.5) * 10 ** Math.floor(random() * 12)]);
}
