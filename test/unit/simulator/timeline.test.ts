import { expect, test } from '@jest/globals';
import { createTimeline } from '../../../simulator/replay/survey.ts';

const HOUR = 3_600_000;
const last = Date.parse('2010-12-31T23:00:00Z');
const now = Date.parse('2026-11-21T10:00:00.123Z');

test('Replay timeline: the last recorded instant is replayed at the current time', () => {
  expect(createTimeline({ last, now, speed: 60 })(last)).toBe(now);
});

test('Replay timeline: speed 1 keeps the recorded time differences, speed 60 replays an hour in a minute', () => {
  expect(createTimeline({ last, now, speed: 1 })(last - 5 * HOUR)).toBe(now - 5 * HOUR);
  expect(createTimeline({ last, now, speed: 60 })(last - 5 * HOUR)).toBe(now - 5 * 60_000);
});
