import { expect, test } from '@jest/globals';
import { Progress } from '../../../../api/ingest/admission/index.js';

function progressAt() {
  const at = { now: 1000, answered: Number.NEGATIVE_INFINITY };
  return { at, progress: new Progress({ clock: () => at.now, answeredAt: () => at.answered }) };
}

test('Progress: oldest message waits: none since its arrival, unless a message was settled and the database answered', () => {
  const { at, progress } = progressAt();
  const [first, second, third] = [{}, {}, {}];
  progress.begin(first);
  at.now = 1500;
  expect(progress.standstillMs).toBe(500);

  progress.begin(second);
  at.answered = 1700;
  at.now = 1800;
  progress.end(second, true);
  at.now = 2000;
  expect(progress.standstillMs).toBe(300);

  progress.begin(third);
  progress.end(third, true);
  expect(progress.standstillMs).toBe(300);
  at.answered = 2000;
  expect(progress.standstillMs).toBe(0);
});

test('Progress: answers of the database alone, abandoned messages: none', () => {
  const { at, progress } = progressAt();
  const [waiting, given] = [{}, {}];
  progress.begin(waiting);
  progress.begin(given);
  at.now = at.answered = 3000;
  expect(progress.standstillMs).toBe(2000);
  progress.end(given, false);
  expect(progress.standstillMs).toBe(2000);
});

test('Progress: nothing waits: not stalled', () => {
  const { at, progress } = progressAt();
  const message = {};
  expect(progress.standstillMs).toBe(0);
  progress.begin(message);
  at.now = 9000;
  progress.end(message, false);
  expect(progress.standstillMs).toBe(0);
});
