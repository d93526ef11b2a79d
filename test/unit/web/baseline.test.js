import { describe, expect, test } from '@jest/globals';
import {
  createBaseline,
  FAR,
  isLearning,
  LEVELS,
  learn,
  levelOf,
  scoreOf,
  spreadOf,
} from '../../../web/state/baseline.js';

/** @import { Baseline } from '../../../web/state/baseline.js' */

/** A made-up series of numbers from -1 to 1, the same each time. @param {number} i */
const wobble = (i) => Math.sin(i * 12.9898) * Math.cos(i * 78.233);

/**
 * @param {number} seconds
 * @param {(second: number) => number} signal
 * @param {{ baseline?: Baseline, typical?: number, from?: number }} [options]
 */
function watch(seconds, signal, { baseline = createBaseline(), typical = 0, from = 0 } = {}) {
  const scores = [];
  for (let second = from; second < from + seconds; second += 1) {
    scores.push(scoreOf(baseline, signal(second), typical));
    learn(baseline, second * 1000, signal(second), typical);
  }
  return { baseline, scores };
}

/** @param {number[]} scores */
const furthest = (scores) => Math.max(...scores.map(Math.abs));

describe('Baseline', () => {
  test('four values: still learning, no score', () => {
    const { baseline, scores } = watch(4, (second) => second * second);
    expect(isLearning(baseline)).toBe(true);
    expect(scores).toEqual([0, 0, 0, 0]);
  });

  test('noise: low scores; a value outside: a high score with its sign', () => {
    const { baseline, scores } = watch(600, (second) => 38 + 0.3 * wobble(second));
    expect(furthest(scores.slice(60))).toBeLessThan(FAR);
    expect(scoreOf(baseline, 40, 0)).toBeGreaterThan(FAR);
    expect(scoreOf(baseline, 36, 0)).toBeLessThan(-FAR);
    expect(Math.abs(scoreOf(baseline, 38, 0))).toBeLessThan(1);
  });

  test('a step: a high score at once, normal after some minutes', () => {
    const { baseline } = watch(600, (second) => 20 + wobble(second));
    const { scores } = watch(1200, (second) => 50 + wobble(second), { baseline, from: 600 });
    expect(scores[0]).toBeGreaterThan(FAR);
    expect(furthest(scores.slice(900))).toBeLessThan(2);
  });

  test('one extreme value: the next outlier still scores, normal values do not', () => {
    const { baseline } = watch(600, (second) => 20 + wobble(second));
    learn(baseline, 600_000, 1e6, 0);
    expect(scoreOf(baseline, 40, 0)).toBeGreaterThan(FAR);
    expect(Math.abs(scoreOf(baseline, 20, 0))).toBeLessThan(1);
  });

  test('a rising counter: normal', () => {
    const { scores } = watch(3600, (second) => 1000 + 3 * second);
    expect(furthest(scores)).toBeLessThan(2.2);
  });

  test('a constant signal: any change scores, until it is normal', () => {
    const { baseline, scores } = watch(600, () => 0);
    expect(furthest(scores)).toBe(0);
    expect(scoreOf(baseline, 1, 0)).toBeGreaterThan(FAR);
    const { scores: after } = watch(1200, () => 1, { baseline, from: 600 });
    expect(furthest(after.slice(900))).toBeLessThan(2);
  });

  test('a quiet sensor: changes that are normal for its type do not score', () => {
    const { baseline } = watch(600, () => 400, { typical: 20 });
    expect(Math.abs(scoreOf(baseline, 405, 20))).toBeLessThan(1);
    expect(scoreOf(baseline, 405, 0)).toBeGreaterThan(FAR);
  });

  test('a new sensor: it borrows the spread of its type', () => {
    const { baseline } = watch(5, () => 38, { typical: 0.5 });
    expect(spreadOf(baseline, 0.5)).toBeCloseTo(0.4, 1);
  });

  test('many old values: they count less than new ones', () => {
    const { baseline } = watch(600, (second) => 20 + wobble(second));
    learn(baseline, 7_200_000, 21, 0);
    expect(baseline.mean).toBeLessThan(20.5);
    expect(baseline.mean).toBeGreaterThan(20.1);
  });
});

test('Level: scores of both signs: symmetric and bounded', () => {
  expect([0, 1, 1.5, 2.5, 4, 5, 8, 99].map(levelOf)).toEqual([0, 0, 1, 2, 3, 4, 5, 5]);
  expect(levelOf(-99)).toBe(-LEVELS);
  expect(Math.abs(levelOf(-0.5))).toBe(0);
});
