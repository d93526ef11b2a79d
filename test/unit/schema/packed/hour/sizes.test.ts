import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { encodeHour } from '../../../../../schema/packed/hour/encode-hour.ts';
import type { Numbers } from '../../../../../schema/packed/series.ts';
import { bucketOf, HOUR_MS } from '../../../../../schema/rules.ts';
import { createRandom } from '../../../../../simulator/random.ts';
import { readBatches } from '../../../../../simulator/replay/samples.ts';
import { createTimeline, surveyFile } from '../../../../../simulator/replay/survey.ts';
import { pulse } from '../../../../../simulator/signals/body.ts';
import { samplesOfHour } from '../../../../../tools/bench/loader/data-set.ts';

type SensorHour = { hour: number; times: Numbers; values: Numbers };

const PAGE = readFileSync(new URL('../../../../../docs/reference/packed-form.md', import.meta.url), 'utf8');

/** Hourly pressure, temperature and wind of a year in Seattle, replayed so that an hour of the file takes a second. */
const RECORDED = fileURLToPath(
  new URL(
    '../../../../../node_modules/vega-datasets/data/seattle-weather-hourly-normals.csv',
    import.meta.url,
  ),
);
const SPEED = 3600;

const SEED = 11;
const HOUR = Date.UTC(2026, 10, 21, 9);

const generated = (signal: 'decimals' | 'full', jitterMs: number): SensorHour => ({
  hour: HOUR,
  ...samplesOfHour(
    { seed: SEED, signal, intervalMs: 1000, jitterMs },
    { device: 'bench', sensor: signal },
    HOUR,
  ),
});

function wholeNumbers(jitterMs: number): SensorHour {
  const next = pulse.create(createRandom(SEED, 'pulse'), 1000);
  const { hour, times } = generated('decimals', jitterMs);
  return { hour, times, values: Float64Array.from(times, () => next()) };
}

/** Read once, for both clocks. */
let recorded: Promise<SensorHour[]> | null = null;

function recordedHours(): Promise<SensorHour[]> {
  recorded ??= readHours();
  return recorded;
}

async function readHours() {
  const survey = await surveyFile(RECORDED);
  const timeline = createTimeline({ last: survey.last, now: HOUR, speed: SPEED });
  const skipped = { empty: 0, unreadable: 0, untimed: 0, colliding: 0 };
  const hours: Map<string, { hour: number; times: number[]; values: number[] }> = new Map();
  for await (const batch of readBatches(RECORDED, survey, { timeline, rowsPerBatch: survey.rows, skipped })) {
    for (const { name, samples } of batch) {
      for (const { ts, value } of samples) {
        const key = `${name} ${bucketOf(ts)}`;
        const found = hours.get(key) ?? { hour: bucketOf(ts), times: [], values: [] };
        found.times.push(ts);
        found.values.push(value);
        hours.set(key, found);
      }
    }
  }
  return [...hours.values()].filter(({ times }) => times.length === HOUR_MS / 1000);
}

function withJitter({ hour, times, values }: SensorHour, jitterMs: number): SensorHour {
  if (jitterMs === 0) return { hour, times, values };
  const random = createRandom(SEED, 'jitter');
  // Samples are half an interval late, so that none leaves its hour.
  const late = Float64Array.from(
    times,
    (time) => time + 500 + Math.floor(random.between(-jitterMs, jitterMs)),
  );
  return { hour, times: late, values };
}

function bytesOf(hours: SensorHour[]): number {
  const packed = hours.map(({ hour, times, values }) => encodeHour(hour, times, values, 0, times.length));
  const samples = hours.reduce((sum, { times }) => sum + times.length, 0);
  return packed.reduce((sum, { length }) => sum + length, 0) / samples;
}

/** For each signal: its name, the limit in bytes a sample, and its hours by the jitter of its clock in ms. */
const SIGNALS = [
  ['decimals, two digits', 1.5, async (jitterMs) => [generated('decimals', jitterMs)]],
  ['whole numbers', 1.5, async (jitterMs) => [wholeNumbers(jitterMs)]],
  ['full doubles', 7.1, async (jitterMs) => [generated('full', jitterMs)]],
  [
    'hourly weather',
    1.5,
    async (jitterMs) => (await recordedHours()).map((hour) => withJitter(hour, jitterMs)),
  ],
] as Array<[string, number, (jitterMs: number) => Promise<SensorHour[]>]>;

test.each(SIGNALS)(
  'Packed hour: %s at 1 Hz: bytes per sample equal those in docs/reference/packed-form.md',
  async (signal, limit, hoursOf) => {
    const exact = bytesOf(await hoursOf(0));
    const jittered = bytesOf(await hoursOf(20));
    const cells = PAGE.split('\n')
      .find((line) => line.includes(`version 2: ${signal} `))
      ?.split('|');
    expect(cells?.slice(2, 4).map((cell) => cell.trim())).toEqual([exact.toFixed(2), jittered.toFixed(2)]);
    expect(jittered).toBeLessThan(limit);
  },
);
