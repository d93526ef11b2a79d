import { describe, expect, test } from '@jest/globals';
import {
  LEAST_SAMPLES,
  LEAST_SPAN_MS,
  learnRecent,
  missingMs,
} from '../../../api/history/baselines/recent.js';
import { sigmasOf } from '../../../api/history/baselines/table.js';

const NOON = Date.UTC(2026, 10, 23, 12);
const SECOND = 1000;

/** Noise without a generator: the same numbers each time, from -1 to 1. @param {number} index */
const noise = (index) => Math.sin(index * 12.9898) * Math.cos(index * 78.233);

/** One sample a second. @param {number} count @param {(index: number) => number} valueAt */
const signal = (count, valueAt) => ({
  times: Array.from({ length: count }, (_, index) => NOON + index * SECOND),
  values: Array.from({ length: count }, (_, index) => valueAt(index)),
});

/** @param {ReturnType<typeof signal>} samples */
function learned(samples) {
  const baseline = learnRecent(samples);
  if (!baseline) throw new Error('nothing is usual');
  return baseline;
}

describe('Provisional baseline', () => {
  test('Provisional baseline: a noisy signal: mean and deviation match the noise', () => {
    const baseline = learned(signal(600, (index) => 20 + noise(index)));
    expect(baseline.mean).toBeCloseTo(20, 0);
    expect(baseline.deviation).toBeGreaterThan(0.2);
    expect(baseline.deviation).toBeLessThan(1);
    expect([baseline.from, baseline.to]).toEqual([NOON, NOON + 599 * SECOND]);
  });

  test('Provisional baseline: samples in reverse order: the same baseline as in order of time', () => {
    const { times, values } = signal(300, (index) => index + 10 * noise(index));
    const turned = { times: times.toReversed(), values: values.toReversed() };
    expect(learnRecent(turned)).toEqual(learnRecent({ times, values }));
  });

  test.each([
    ['one sample too few: no baseline is learned', LEAST_SAMPLES - 1, 10_000, false],
    ['exactly as many samples as needed: a baseline is learned', LEAST_SAMPLES, 10_000, true],
    ['many samples within too short a time: no baseline is learned', 500, (LEAST_SPAN_MS - 1) / 499, false],
    ['no sample: no baseline is learned', 0, 1, false],
  ])('Provisional baseline: %s', (_, count, stepMs, isJudged) => {
    const times = Array.from({ length: count }, (_, index) => NOON + index * stepMs);
    expect(learnRecent({ times, values: times.map(() => 7) }) !== null).toBe(isJudged);
  });

  test.each([
    ['at the start', (/** @type {number} */ index) => index < 110],
    ['at the end', (/** @type {number} */ index) => index >= 490],
    ['scattered', (/** @type {number} */ index) => index % 6 === 0],
  ])('Provisional baseline: outliers %s: outliers exceed 4.5 sigmas', (_, isWild) => {
    const baseline = learned(signal(600, (index) => (isWild(index) ? 90 : 20 + noise(index))));
    expect(Math.abs(sigmasOf(baseline, 20))).toBeLessThan(1.4);
    expect(sigmasOf(baseline, 90)).toBeGreaterThan(4.5);
  });

  test('Provisional baseline: values jump to a new level: over 4.5 sigmas until a third of the samples are at that level', () => {
    const stepAt = (/** @type {number} */ at) =>
      learned(signal(600, (index) => (index < at ? 20 : 40) + noise(index)));
    expect(sigmasOf(stepAt(600), 40)).toBeGreaterThan(4.5);
    expect(sigmasOf(stepAt(480), 40)).toBeGreaterThan(4.5);
    expect(Math.abs(sigmasOf(stepAt(400), 40))).toBeLessThan(4.5);
    expect(Math.abs(sigmasOf(stepAt(0), 40))).toBeLessThan(1.4);
  });

  test.each([
    [20.5, 20.6, 0.5],
    [-1013, -1030, -1.7],
    [0, 0.001, 99],
  ])('Provisional baseline: constant %p: 0 sigmas; other value %p: %p sigmas', (constant, other, sigmas) => {
    const baseline = learned(signal(100, () => constant));
    expect(sigmasOf(baseline, constant)).toBe(0);
    expect(sigmasOf(baseline, other)).toBe(sigmas);
  });

  test('Provisional baseline: a constant value rarely rises by 0.1: a rise by 0.2 stays below 4.5 sigmas', () => {
    const baseline = learned(signal(600, (index) => (index % 30 === 0 ? 20.1 : 20)));
    expect(sigmasOf(baseline, 20.2)).toBeLessThan(4.5);
    expect(sigmasOf(baseline, 25)).toBeGreaterThan(4.5);
  });

  test.each([0.3, 0.5, 0.7])(
    'Provisional baseline: values alternate between two states, one with share %p: both stay below 3.2 sigmas',
    (share) => {
      for (const size of [0, 1]) {
        const samples = signal(600, (index) => (index % 10 < 10 * share ? 100 : 0) + size * noise(index));
        const baseline = learned(samples);
        for (const state of [0, 100]) expect(Math.abs(sigmasOf(baseline, state))).toBeLessThan(3.2);
      }
    },
  );

  test('Provisional baseline: two states, one in 2 % of the samples: the rare state exceeds 4.5 sigmas', () => {
    const baseline = learned(signal(600, (index) => Number(index % 50 === 0)));
    expect([sigmasOf(baseline, 0), Math.sign(sigmasOf(baseline, 1) - 4.5)]).toEqual([0, 1]);
  });

  test('Provisional baseline: values drift: the values until the next round stay below 2 sigmas', () => {
    const baseline = learned(signal(600, (index) => index / 10));
    expect(sigmasOf(baseline, 90)).toBeLessThan(2);
  });

  test('Provisional baseline: values exceed 32-bit floats: no baseline is learned', () => {
    expect(learnRecent(signal(100, () => 1e300))).toBeNull();
  });
});

test.each([
  ['no sample read yet', undefined, LEAST_SPAN_MS],
  ['one sample', { times: [NOON - 5000], values: [1] }, 5000],
  ['a slow sensor', { times: [NOON, NOON - 120_000, NOON - 60_000], values: [1, 1, 1] }, 27 * 60_000],
  ['a fast sensor', signal(30, () => 1), LEAST_SPAN_MS - 29 * SECOND],
])('Provisional baseline: %s: learning waits as long as the missing samples take', (_, samples, ms) => {
  expect(missingMs(samples, NOON)).toBe(ms);
});
