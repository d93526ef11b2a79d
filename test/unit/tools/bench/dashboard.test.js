import { expect, test } from '@jest/globals';
import { longTasksOf, scriptOfFrames } from '../../../../tools/bench/dashboard/watch.js';

/** @param {string} name @param {number} ts ms @param {number} [dur] ms @param {object} [rest] */
const event = (name, ts, dur = 0, rest = {}) => ({
  name,
  cat: '',
  ph: 'X',
  pid: 1,
  tid: 1,
  ts: ts * 1000,
  dur: dur * 1000,
  tdur: (dur * 1000) / 2,
  ...rest,
});

test('Dashboard bench: script time of a frame: tasks since the previous frame, nested tasks once, no other threads', () => {
  const frames = scriptOfFrames([
    event('FunctionCall', 0, 100),
    event('Commit', 200, 1),
    event('FireAnimationFrame', 300, 10),
    event('v8.callFunction', 301, 8),
    event('FunctionCall', 302, 6),
    event('Layout', 312, 5),
    event('MinorGC', 320, 2),
    event('FunctionCall', 321, 500, { tid: 2 }),
    event('Commit', 400, 1),
    event('Commit', 500, 1),
  ]);
  expect(frames).toEqual([
    { ms: 10, cpuMs: 5 },
    { ms: 0, cpuMs: 0 },
  ]);
});

test('Dashboard bench: a task counts as long by its CPU time, not by its elapsed time', () => {
  const tasks = [event('FunctionCall', 0, 1), event('RunTask', 0, 90), event('RunTask', 100, 120)];
  expect(longTasksOf(tasks, 50)).toEqual([60]);
});
