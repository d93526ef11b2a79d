import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bucketOf, DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.js';
import { difference, seriesOf, WIDTHS, widthOf } from '../../support/brute-force.js';
import { useHistorySystem } from '../../support/history-system.js';
import { expectProblem, send } from '../../support/http.js';

/** @import { Fate, Sample } from '../../support/history.js' */

const BEGIN = dayOf(Date.now() - 340 * DAY_MS);

const world = useHistorySystem(BEGIN);
const { clock } = world;

/** @param {string} name @param {Array<{ hour: number, fate: Fate, samples: Sample[] }>} hours @returns {Promise<Sample[]>} what there is then */
async function lay(name, hours) {
  const samples = await world.lay(name, hours);
  clock.now = BEGIN + 341 * DAY_MS;
  return samples;
}

/** @param {string} name @param {string} query */
const path = (name, query) => `/devices/${name}/sensors/s/series?${query}`;

/** @param {string} name @param {{ from: number, to: number }} range @param {number} points */
async function ask(name, { from, to }, points) {
  const answer = await world.system.get(path(name, `from=${from}&to=${to}&points=${points}`));
  const made = answer.points.map((/** @type {any} */ point) => ({ ...point, ts: Date.parse(point.ts) }));
  return { made, width: answer.step_ms, source: answer.source };
}

/** Holds an answer to brute force. @param {string} name @param {Sample[]} samples @param {{ from: number, to: number }} range @param {number} points */
async function expectBruteForce(name, samples, range, points) {
  const { made, width, source } = await ask(name, range, points);
  expect(width).toBe(widthOf(range, points));
  expect(made.length).toBeLessThanOrEqual(points);
  expect(difference(made, seriesOf(samples, range, width))).toBeNull();
  return { width, source };
}

describe('hours that have been through everything', () => {
  /** @type {Array<[hour: number, Fate]>} */
  const fates = [
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
  /** @type {Sample[]} */
  let samples;
  beforeAll(async () => {
    const hours = fates.map(([at, fate]) => {
      const hour = BEGIN + at * HOUR_MS;
      const count = fate === 'nothing' ? 0 : 1 + ((at * 37) % 90);
      return { hour, fate, samples: scattered(hour, count, at) };
    });
    samples = await lay('mixed', hours);
  });

  test.each(WIDTHS.filter((width) => width <= 60 * DAY_MS))('bins of %i ms', async (width) => {
    // Long enough that no smaller width would do, and cut within bins and hours.
    const length = Math.min(1500 * width, 335 * DAY_MS);
    const from = BEGIN + 17 * 60_000 + 11;
    const range = { from, to: from + length + 13 };
    const points = Math.floor((range.to - 1) / width) - Math.floor(range.from / width) + 1;
    const answer = await expectBruteForce('mixed', samples, range, points);
    expect(answer).toEqual({ width, source: width < HOUR_MS ? 'samples' : 'statistics' });
  });

  test('any range, with any number of points', async () => {
    const instant = fc.oneof(
      fc.constantFrom(...fates.map(([at]) => BEGIN + at * HOUR_MS)),
      fc
        .tuple(fc.constantFrom(...fates), fc.integer({ min: -HOUR_MS, max: 2 * HOUR_MS }))
        .map(([[at], offset]) => BEGIN + at * HOUR_MS + offset),
    );
    const ranges = fc.tuple(instant, instant).filter(([a, b]) => a !== b);
    await fc.assert(
      fc.asyncProperty(ranges, fc.integer({ min: 2, max: 2000 }), async ([a, b], points) => {
        await expectBruteForce('mixed', samples, { from: Math.min(a, b), to: Math.max(a, b) }, points);
      }),
      { numRuns: 60 },
    );
  });

  test('whole hours need nothing but their statistics', async () => {
    const hour = BEGIN + 900 * HOUR_MS;
    await world.history.dropPacked(world.history.sensorOf('mixed', 's'), hour);
    const range = { from: hour, to: hour + 2 * HOUR_MS };
    const { source } = await expectBruteForce('mixed', samples, range, 2);
    expect(source).toBe('statistics');
  });
});

describe('at the ends of the doubles', () => {
  const MAX = Number.MAX_VALUE;
  let next = 8010;
  test.each(
    /** @type {Array<[string, number[]]>} */ ([
      ['one sample', [-7]],
      ['both signs', [-1, 2, -3, 0, 0.5]],
      ['the largest', [MAX]],
      ['the smallest', [Number.MIN_VALUE, -Number.MIN_VALUE]],
      ['a sum beyond', [MAX, MAX, 1]],
      ['a sum that goes beyond and comes back', [MAX, MAX, -MAX, 5, -MAX, 3]],
    ]),
  )('%s', async (name, values) => {
    for (const fate of /** @type {Fate[]} */ (['packed', 'batches'])) {
      // Packing goes on: what is in batches alone is after all that was packed before.
      const hour = BEGIN + next++ * HOUR_MS;
      /** @type {Sample[]} */
      const made = values.map((value, at) => [hour + at * 1000, value]);
      const one = `${name}-${fate}`.replaceAll(' ', '-');
      const samples = await lay(one, [{ hour, fate, samples: made }]);
      for (const length of [HOUR_MS, 6 * HOUR_MS]) {
        await expectBruteForce(one, samples, { from: hour, to: hour + length }, 2);
      }
    }
  });

  test('hours whose sums overflow, and whose bin does not', async () => {
    const hour = dayOf(BEGIN + 8088 * HOUR_MS);
    /** @type {Array<{ hour: number, fate: Fate, samples: Sample[] }>} */
    const hours = [1, -1].map((sign, at) => ({
      hour: hour + at * HOUR_MS,
      fate: 'packed',
      samples: [1, 2, 3].map((second) => [hour + at * HOUR_MS + second, sign * MAX]),
    }));
    const samples = await lay('swinging', hours);
    await expectBruteForce('swinging', samples, { from: hour, to: hour + DAY_MS }, 1);
  });
});

describe('ranges', () => {
  const hour = bucketOf(BEGIN + 8150 * HOUR_MS);
  /** @type {Sample[]} */
  let samples;
  beforeAll(async () => {
    samples = await lay('plain', [{ hour, fate: 'packed', samples: scattered(hour, 40, 3) }]);
  });

  test.each([
    ['of no length', 'from=2026-01-01&to=2026-01-01'],
    ['before retention', 'from=1990-01-01&to=1991-01-01'],
    ['before the first sample', `from=${hour - 50 * DAY_MS}&to=${hour}`],
    ['after the last sample', `from=${hour + HOUR_MS}`],
    ['in the future', 'from=2090-01-01&to=2091-01-01'],
  ])('%s: nothing, at once', async (_, query) => {
    const answer = await world.system.get(path('plain', query));
    expect(answer).toEqual({ points: [], step_ms: expect.any(Number), source: 'samples' });
  });

  test('a thousand years, or nothing said: all there is, by the width of what may be there', async () => {
    for (const query of ['', 'from=1526-01-01&to=2526-01-01']) {
      const { points, step_ms } = await world.system.get(path('plain', query));
      expect(step_ms).toBe(DAY_MS);
      const count = points.reduce(
        (/** @type {number} */ sum, /** @type {any} */ point) => sum + point.count,
        0,
      );
      expect(count).toBe(samples.length);
    }
  });

  test('the beginning of retention cuts an hour of which there are statistics', async () => {
    const [third] = samples[2] ?? [];
    const was = clock.now;
    clock.now = Number(third) + 365 * DAY_MS;
    try {
      const { points } = await world.system.get(path('plain', 'points=1'));
      expect(points).toMatchObject([{ count: samples.length - 2 }]);
    } finally {
      clock.now = was;
    }
  });

  test.each([
    ['from=2026-02-01&to=2026-01-01', 'bad_range'],
    ['points=0', 'bad_parameter'],
    ['points=2001', 'bad_parameter'],
    ['points=1e9', 'bad_parameter'],
    ['points=', 'bad_parameter'],
    ['limit=5', 'bad_parameter'],
    ['from=yesterday', 'bad_parameter'],
  ])('%s: %s', async (query, code) => {
    expectProblem(await send(world.system.httpUrl, `/api/v1${path('plain', query)}`), 400, code);
  });

  test('a known sensor without data has no points; an unknown one is not there', async () => {
    await world.device.birth('newborn', { sensors: [{ sensor_id: 's' }] });
    expect((await world.system.get(path('newborn', ''))).points).toEqual([]);
    expectProblem(await send(world.system.httpUrl, `/api/v1${path('nobody', '')}`), 404, 'not_found');
  });
});

/** @param {number} hour epoch ms @param {number} count @param {number} seed @returns {Sample[]} irregular, of both signs, in order of time, the first and the last instant among them */
function scattered(hour, count, seed) {
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
