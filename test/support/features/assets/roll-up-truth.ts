import type { RollUp } from '../../../../api/features/assets/roll-ups/roll-up.ts';
import { endOfDay, yearsBetween } from '../../../../api/features/assets/roll-ups/store.ts';
import { greaterValue } from '../../../../schema/packed/series.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import { samplesIn, type World } from './roll-up-world.ts';

/** By asset, type and hour in ISO 8601. `parts`: merges that may each round the sum */
type RollUps = Record<string, RollUp & { parts: number }>;

const keyOf = (asset: string, type: string, hour: number) =>
  `${asset} ${type} ${new Date(hour).toISOString()}`;

/** What the roll-ups should be, by brute force over all samples. */
export function trueRollUps({ sensors, truth }: World, hours: number[]): RollUps {
  const found: RollUps = {};
  for (const sensor of sensors) {
    for (const hour of hours) {
      const samples = samplesIn(sensor, hour);
      for (const asset of samples.length === 0
        ? []
        : truth.ancestorsAt(sensor.device.id, sensor.sensor.id, hour)) {
        const key = keyOf(asset, sensor.type, hour);
        for (const sample of samples) found[key] = withSample(found[key], sample);
        (found[key] as RollUps[string]).parts++;
      }
    }
  }
  return found;
}

function withSample(known: RollUps[string] | undefined, [ts, value]: [number, number]): RollUps[string] {
  if (!known)
    return {
      count: 1,
      min: value,
      max: value,
      sum: value,
      first: value,
      last: value,
      firstAt: ts,
      lastAt: ts,
      parts: 0,
    };
  const { first, last, firstAt, lastAt } = known;
  return {
    ...known,
    count: known.count + 1,
    min: Math.min(known.min, value),
    max: Math.max(known.max, value),
    sum: known.sum + value,
    first: ts < firstAt ? value : ts === firstAt ? greaterValue(first, value) : first,
    firstAt: Math.min(ts, firstAt),
    last: ts > lastAt ? value : ts === lastAt ? greaterValue(last, value) : last,
    lastAt: Math.max(ts, lastAt),
  };
}

/** All stored roll-ups of these hours. */
export async function storedRollUps(
  { rollUps, truth }: World,
  hours: number[],
): Promise<Record<string, RollUp>> {
  const found: Record<string, RollUp> = {};
  const range = { from: dayOf(Math.min(...hours)) - DAY_MS, to: endOfDay(Math.max(...hours) + HOUR_MS) };
  for (const asset of truth.ids()) {
    for (const type of await rollUps.types(asset)) {
      for (const { from, to } of yearsBetween(range.from, range.to)) {
        for (const { hours: stored } of (await rollUps.days(asset, type, from, to)).values())
          for (const [hour, rollUp] of stored) found[keyOf(asset, type, hour)] = rollUp;
      }
    }
  }
  return found;
}

/** Differences in words; empty: count, min, max, first and last are equal, and each merge rounds a sum at most once. */
export function differences(stored: Record<string, RollUp>, expected: RollUps): string[] {
  const keys = new Set([...Object.keys(stored), ...Object.keys(expected)]);
  return [...keys].sort().flatMap((key) => {
    const [is, should] = [stored[key], expected[key]];
    if (!is || !should) return `${key}: ${is ? 'should not exist' : 'is missing'}`;
    const names = ['count', 'min', 'max', 'first', 'last', 'firstAt', 'lastAt'] as const;
    const wrong = names.filter((name) => is[name] !== should[name]);
    // The brute force adds without compensation, so it rounds at each sample.
    const rounded = should.count + should.parts + 8;
    const bound =
      rounded * Number.EPSILON * should.count * Math.max(Math.abs(should.min), Math.abs(should.max));
    if (Math.abs(is.sum - should.sum) > bound) wrong.push('sum' as never);
    return wrong.map((name) => `${key}: ${name} is ${is[name]}, should be ${should[name]}`);
  });
}
