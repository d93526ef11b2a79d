import { expect, test } from '@jest/globals';
import { CongestionWindow } from '../../../../api/store/sending/congestion-window.ts';

/** A window whose clock and answers the test gives by hand. */
function createSteps() {
  let now = 0;
  const window = new CongestionWindow({ max: 1024, now: () => now });

  /** @param at ms @param took ms */
  function answer(at: number, took: number, failed: boolean = false) {
    now = at;
    window.record(at - took, failed);
  }

  /** Answers of one latency up to a moment, 10 ms apart. @param at ms, of the last @param took ms */
  function answers(count: number, at: number, took: number) {
    for (let left = count - 1; left >= 0; left--) answer(at - 10 * left, took);
  }

  return { window, answer, answers };
}

/** A window that knows its unloaded latency. Its next tick begins at 1,000 ms. */
function createQuiet(unloadedMs: number) {
  const steps = createSteps();
  for (let at = 100; at <= 1000; at += 100) steps.answers(8, at, unloadedMs);
  return steps;
}

/** A window of 37 places whose probe starts at 1,000 ms. */
function createProbing() {
  const steps = createSteps();
  steps.window.noteWaiting();
  steps.answers(8, 100, 10);
  for (let at = 200; at < 1000; at += 100) steps.answers(8, at, 10);
  steps.window.noteWaiting();
  // The latency of 80 ms is exactly the limit (8 times 10 ms), so the window grows by only one place.
  steps.answers(8, 1000, 80);
  expect(steps.window.size).toBe(4);
  return steps;
}

test('Congestion window: 8 answers within 100 ms, a request waits: size grows by a tenth plus one, from 32 to 36', () => {
  const { window, answer, answers } = createSteps();
  window.noteWaiting();
  answers(8, 99, 10);
  expect(window.size).toBe(32);
  answer(100, 10);
  expect(window.size).toBe(36);
});

test('Congestion window: no request waited since the last change: size does not grow', () => {
  const { window, answers } = createSteps();
  window.noteWaiting();
  answers(8, 100, 10);
  answers(8, 200, 10);
  expect(window.size).toBe(36);
});

test.each([
  ['at the limit of 8 times', 8, 64, 32],
  ['a quarter over the limit', 8, 80, 25],
  ['far over the limit', 8, 1000, 22],
  ['8 ms over an unloaded one of 1 ms', 1, 9, 32],
  ['9 ms over an unloaded one of 1 ms', 1, 10, 28],
])('Congestion window: median latency %s: %i ms unloaded, %i ms now: size %i', (_, unloaded, now, size) => {
  const { window, answers } = createQuiet(unloaded);
  answers(8, 1100, now);
  expect(window.size).toBe(size);
});

test.each([
  [1, 32],
  [2, 16],
])('Congestion window: %i of 10 requests fail: size is %i', (failed, size) => {
  const { window, answer, answers } = createSteps();
  for (let left = failed; left > 0; left--) answer(10, 10, true);
  answers(10 - failed, 100, 10);
  expect(window.size).toBe(size);
});

test('Congestion window: no request waits: the shortest latency of the last second is taken as unloaded', () => {
  const { window, answers } = createSteps();
  for (let at = 100; at <= 1000; at += 100) answers(8, at, at === 500 ? 1 : 5);
  expect(window.size).toBe(32);
  answers(8, 1100, 10);
  expect(window.size).toBe(28);
});

test('Congestion window: latency falls, then rises: the unloaded latency changes once four of seven probes agree', () => {
  const { window, answers } = createSteps();
  let now = 0;
  const look = (ms: number, times = 1) => {
    for (let left = times; left > 0; left--) {
      now += 10_000;
      answers(8, now, ms);
    }
  };
  /** Returns true if the window shrinks at 50 ms, because 50 ms exceed eight times the unloaded latency. */
  const shrinks = () => {
    const before = window.size;
    now += 1000;
    answers(8, now, 50);
    return window.size < before;
  };
  look(10, 7);
  look(1, 3);
  expect(shrinks()).toBe(false);
  look(1);
  expect(shrinks()).toBe(true);
  look(1, 3);
  look(10, 3);
  expect(shrinks()).toBe(true);
  look(10);
  expect(shrinks()).toBe(false);
});

test('Congestion window: 32 requests of a probe are answered: the probe ends, and their median is the unloaded latency', () => {
  const { window, answer, answers } = createProbing();
  // These requests were sent before the probe, so their latency still shows the loaded database.
  for (let at = 1001; at <= 1040; at++) answer(at, 80);
  for (let at = 1050; at < 1081; at++) answer(at, 50);
  expect(window.size).toBe(4);
  answer(1081, 50);
  expect(window.size).toBe(37);
  answers(8, 1180, 400);
  expect(window.size).toBe(37);
  answers(1, 1181, 400);
  expect(window.size).toBe(37);
  answers(8, 1600, 500);
  expect(window.size).toBe(29);
});

test('Congestion window: a request fails during a probe: the probe ends without result, the next starts 1 s later', () => {
  const { window, answer, answers } = createProbing();
  answer(1050, 50, true);
  expect(window.size).toBe(37);
  window.noteWaiting();
  for (let at = 1051; at <= 1060; at++) answer(at, 10);
  answer(1100, 10);
  expect(window.size).toBe(41);
  window.noteWaiting();
  answers(8, 2049, 10);
  expect(window.size).toBe(47);
  window.noteWaiting();
  answers(8, 2150, 10);
  expect(window.size).toBe(4);
});

test('Congestion window: requests always wait: three probes one second apart, then one every ten seconds', () => {
  const { window, answer } = createSteps();
  const begun: number[] = [];
  for (let at = 5; at < 30_000; at += 5) {
    const before = window.size;
    window.noteWaiting();
    answer(at, 10);
    if (before > 4 && window.size === 4) begun.push(at);
  }
  expect(begun).toEqual([1000, 2165, 3330, 13_495, 23_660]);
});
