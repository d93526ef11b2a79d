import { expect, test } from '@jest/globals';
import { expectedExtreme, LEARNED_DAYS, learnProfile } from '../../../../api/features/baselines/profile.ts';
import { BaselineTable, MOST_SIGMAS, sigmasOf } from '../../../../api/features/baselines/table.ts';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';

/** A Monday. */
const DAY = Date.UTC(2026, 10, 23);

/** Noise between -1 and 1 that is the same in every run. */
const noise = (seed: number) => 2 * (Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1) - 1;

/**
 * Hours of a virtual sensor that measures 60 samples an hour.
 * @param meanAt null: no row
 * @param options `spread`: from the mean of an hour to its extremes
 */
function hoursOf(
  meanAt: (ts: number) => number | null,
  {
    days = LEARNED_DAYS,
    spread = 1,
    count = 60,
    to = DAY,
  }: { days?: number; spread?: number; count?: number; to?: number } = {},
) {
  const rows = [];
  for (let hour = to - days * DAY_MS; hour < to; hour += HOUR_MS) {
    const mean = meanAt(hour);
    if (mean === null) continue;
    const [min, max] = [mean - spread, mean + spread];
    rows.push({ hour, statistics: { count, min, max, sum: count * mean, first: min, last: max } });
  }
  return rows;
}

function learned(rows: ReturnType<typeof hoursOf>, day: number = DAY) {
  const profile = learnProfile(rows, day) as Float32Array;
  return {
    /** @param hour of the day */
    at: (hour: number) => ({ mean: Number(profile[2 * hour]), deviation: Number(profile[2 * hour + 1]) }),
    sigmas(hour: number, value: number) {
      return sigmasOf(this.at(hour), value);
    },
  };
}

const hourOf = (ts: number) => (ts / HOUR_MS) % 24;
const isWeekend = (ts: number) => [0, 6].includes(new Date(ts).getUTCDay());
const daily = (ts: number) => 20 + 10 * Math.sin((2 * Math.PI * hourOf(ts)) / 24);

test('Baseline profile: daily rhythm: each hour has its own mean, and a noon value at night deviates by over 10 sigmas', () => {
  const usual = learned(hoursOf((ts) => daily(ts) + 0.3 * noise(ts / HOUR_MS)));
  for (const hour of [0, 6, 12, 18]) {
    expect(usual.at(hour).mean).toBeCloseTo(daily(DAY + hour * HOUR_MS), 0);
    expect(Math.abs(usual.sigmas(hour, daily(DAY + hour * HOUR_MS)))).toBeLessThan(1);
  }
  expect(usual.sigmas(18, daily(DAY + 6 * HOUR_MS))).toBeGreaterThan(10);
});

test('Baseline profile: weekly rhythm: the mean of noon differs between weekends and working days', () => {
  const weekly = (ts: number) => (isWeekend(ts) ? 0 : 100) + noise(ts / HOUR_MS);
  expect(learned(hoursOf(weekly)).at(12).mean).toBeCloseTo(100, -1);
  const saturday = DAY + 5 * DAY_MS;
  const usual = learned(hoursOf(weekly, { to: saturday }), saturday);
  expect(usual.at(12).mean).toBeCloseTo(0, -1);
  expect(usual.sigmas(12, 100)).toBeGreaterThan(20);
});

test('Baseline profile: one day of history: all hours have one mean, and the daily extremes stay below 4.5 sigmas', () => {
  const usual = learned(hoursOf(daily, { days: 1 }));
  expect(usual.at(3)).toEqual(usual.at(15));
  expect(Math.abs(usual.sigmas(6, 30))).toBeLessThan(4.5);
});

test('Baseline profile: less than a day of history: no profile', () => {
  expect(learnProfile(hoursOf(daily, { days: 23 / 24 }), DAY)).toBeNull();
  expect(learnProfile([], DAY)).toBeNull();
});

test('Baseline profile: sensor with a constant value: that value has 0 sigmas, a change by half over 10', () => {
  for (const value of [20, -0.1]) {
    const usual = learned(hoursOf(() => value, { spread: 0 }));
    expect(usual.sigmas(5, value)).toBe(0);
    expect(Math.abs(usual.sigmas(5, value * 1.005))).toBeLessThan(1);
    expect(Math.abs(usual.sigmas(5, value * 1.5))).toBeGreaterThan(10);
  }
  const zero = learned(hoursOf(() => 0, { spread: 0 }));
  expect(zero.at(5)).toEqual({ mean: 0, deviation: 0 });
  const sigmas = [0, 1, -1e-9].map((value) => zero.sigmas(5, value));
  expect(sigmas).toEqual([0, MOST_SIGMAS, -MOST_SIGMAS]);
});

test('Baseline profile: values alternate between two states within each hour: both states deviate by 1 sigma', () => {
  const usual = learned(hoursOf(() => 0.5, { spread: 0.5, count: 3600 }));
  expect(usual.sigmas(5, 0)).toBe(-1);
  expect(usual.sigmas(5, 1)).toBe(1);
});

test.each([
  ['constant, with rare changes by a step', (hour: number) => (hour % 50 === 0 ? 1 : 0)],
  ['steps of 1 within 3', (hour: number) => (hour % 100 === 0 ? 3 : hour % 50 === 0 ? 1 : 0)],
])('Baseline profile: %s: a change by one step stays below 2.2 sigmas', (_, changeAt) => {
  const usual = learned(hoursOf((ts) => 20 + changeAt(ts / HOUR_MS), { spread: 0 }));
  expect(Math.abs(usual.sigmas(5, 21))).toBeLessThan(2.2);
  expect(usual.sigmas(5, 30)).toBeGreaterThan(4.5);
});

test('Baseline profile: values jump to a new level: over 4.5 sigmas in the first half day, below 2.2 after 30 hours', () => {
  const step = (hours: number) => (ts: number) =>
    (ts >= DAY - hours * HOUR_MS ? 60 : 50) + noise(ts / HOUR_MS);
  expect(learned(hoursOf(step(12))).sigmas(12, 60)).toBeGreaterThan(4.5);
  expect(Math.abs(learned(hoursOf(step(30))).sigmas(12, 60))).toBeLessThan(2.2);
});

test('Baseline profile: sensor faults in the history: mean and deviation hardly change', () => {
  const calm = (ts: number) => 38 + 0.2 * noise(ts / HOUR_MS);
  const faulty = (ts: number) => ((ts / HOUR_MS) % 11 === 0 ? 9999 : calm(ts));
  const [a, b] = [learned(hoursOf(calm)).at(12), learned(hoursOf(faulty)).at(12)];
  expect(b.mean).toBeCloseTo(a.mean, 0);
  expect(b.deviation).toBeLessThan(2 * a.deviation);
  expect(learned(hoursOf(faulty)).sigmas(12, 9999)).toBe(MOST_SIGMAS);
});

test('Baseline profile: hours are missing, not packed yet or in reverse order: the mean of the other hours is learned', () => {
  const rows = hoursOf((ts) => (noise(ts) > 0 ? daily(ts) : null));
  const open = { hour: DAY, statistics: null };
  expect(learned([...rows, open as never]).at(6).mean).toBeCloseTo(30, 0);
  expect(learned([...rows].reverse()).at(6)).toEqual(learned(rows).at(6));
});

test('Baseline profile: values exceed 32-bit floats: the profile has only NaN, or no profile is learned', () => {
  const profile = learnProfile(
    hoursOf(() => 1e300),
    DAY,
  );
  expect([...(profile ?? [])].every(Number.isNaN)).toBe(true);
  expect(
    learnProfile(
      hoursOf(() => Number.MAX_VALUE),
      DAY,
    ),
  ).toBeNull();
});

test('Expected extreme of a sample: more samples: the extreme grows, up to 2 standard deviations', () => {
  const reaches = [2, 3, 4, 8, 16, 30, 60, 3600, 1e9].map(expectedExtreme);
  expect([...reaches].sort((a, b) => a - b)).toEqual(reaches);
  expect(reaches[0]).toBe(0.564);
  expect(reaches.at(-1)).toBe(2);
});

test('Baseline table: 3,000 sensors are stored: each keeps its own mean and deviation', () => {
  const table = new BaselineTable();
  for (let number = 0; number < 3000; number++) {
    table.set(`d/${number}`, new Float32Array(48).fill(number));
  }
  table.set('d/7', new Float32Array(48).fill(0.5));
  expect(table.size).toBe(3000);
  expect(table.at('d/2999', 23)).toEqual({ mean: 2999, deviation: 2999 });
  expect(table.at('d/7', 0)).toEqual({ mean: 0.5, deviation: 0.5 });
  expect(table.at('d/unknown', 0)).toBeNull();
  expect(table.sigmas('d/unknown', 0, 1)).toBeNull();
  table.set('d/none', new Float32Array(48).fill(Number.NaN));
  expect(table.sigmas('d/none', 0, 1)).toBeNull();
});

test.each([
  [10, 0],
  [11.04, 0.5],
  [9.99, 0],
  [4, -3],
  [1e9, 99],
  [-1e9, -99],
])('Deviation of a value: value %p, mean 10, standard deviation 2: %p sigmas', (value, sigmas) => {
  expect(sigmasOf({ mean: 10, deviation: 2 }, value)).toBe(sigmas);
});
