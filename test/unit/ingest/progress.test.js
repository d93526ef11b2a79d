import { expect, test } from '@jest/globals';
import { createProgress } from '../../../api/ingest/acknowledgements.js';

function progressAt() {
  const at = { now: 1000, answered: Number.NEGATIVE_INFINITY };
  return { at, progress: createProgress({ clock: () => at.now, answeredAt: () => at.answered }) };
}

test('it stands still since the oldest came, unless one was settled and the database answered since', () => {
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

test('answers of the database alone, and what is given up, are no progress', () => {
  const { at, progress } = progressAt();
  const [waiting, given] = [{}, {}];
  progress.begin(waiting);
  progress.begin(given);
  at.now = at.answered = 3000;
  expect(progress.standstillMs).toBe(2000);
  progress.end(given, false);
  expect(progress.standstillMs).toBe(2000);
});

test('where nothing waits, nothing stands still', () => {
  const { at, progress } = progressAt();
  const message = {};
  expect(progress.standstillMs).toBe(0);
  progress.begin(message);
  at.now = 9000;
  progress.end(message, false);
  expect(progress.standstillMs).toBe(0);
});
