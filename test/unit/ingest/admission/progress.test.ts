import { expect, test } from '@jest/globals';
import { Progress } from '../../../../api/ingest/admission/index.ts';

function progressAt() {
  const at = { now: 1000, answered: Number.NEGATIVE_INFINITY };
  return { at, progress: new Progress({ clock: () => at.now, answeredAt: () => at.answered }) };
}

test('Ingest progress: a message waits: standstillMs counts from its arrival, or from the last stored message', () => {
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

test('Ingest progress: a message waits, the database answers, but no message is stored: standstillMs goes on', () => {
  const { at, progress } = progressAt();
  const [waiting, given] = [{}, {}];
  progress.begin(waiting);
  progress.begin(given);
  at.now = at.answered = 3000;
  expect(progress.standstillMs).toBe(2000);
  progress.end(given, false);
  expect(progress.standstillMs).toBe(2000);
});
