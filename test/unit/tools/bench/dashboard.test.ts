import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { RequestCount } from '../../../../tools/bench/dashboard/views.ts';
import { longTasksOf, scriptOfFrames } from '../../../../tools/bench/dashboard/watch.ts';

/** @param ts ms @param dur ms */
const event = (name: string, ts: number, dur: number = 0, rest: object = {}) => ({
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

test('Dashboard bench: script time of a frame: counts tasks since the previous frame, nested tasks once, and no other threads', () => {
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

test('Dashboard bench: long tasks: selected by CPU time, not by elapsed time', () => {
  const tasks = [event('FunctionCall', 0, 1), event('RunTask', 0, 90), event('RunTask', 100, 120)];
  expect(longTasksOf(tasks, 50)).toEqual([60]);
});

/** A page whose requests are counted. */
function createCounted() {
  const debuggee = new EventEmitter();
  const count = new RequestCount(debuggee as never);
  const emit = (name: string, event: object) => void debuggee.emit(`Network.${name}`, event);
  return {
    count,
    emit,
    ask(requestId: string, path: string, type: string = 'Fetch') {
      emit('requestWillBeSent', { requestId, request: { url: `http://127.0.0.1:1${path}` }, type });
    },
    answer(requestId: string, bytes: number, fromDiskCache: boolean = false) {
      emit('responseReceived', { requestId, response: { encodedDataLength: 100, fromDiskCache } });
      emit('dataReceived', { requestId, encodedDataLength: 10 });
      emit('loadingFinished', { requestId, encodedDataLength: bytes });
    },
  };
}

test('Dashboard bench: requests of a view: files and data are counted with their bytes, cached responses are not', () => {
  const { count, emit, ask, answer } = createCounted();
  ask('1', '/', 'Document');
  answer('1', 2000);
  ask('2', '/assets/app.js', 'Script');
  answer('2', 0, true);
  ask('3', '/assets/app.css', 'Stylesheet');
  emit('requestServedFromCache', { requestId: '3' });
  ask('4', '/api/v1/fleet');
  answer('4', 500);
  emit('requestWillBeSent', { requestId: '5', request: { url: 'data:image/png,x' }, type: 'Image' });
  expect(count.take()).toEqual({ files: 1, data: 1, kilobytes: 2.5 });
  expect(count.take()).toEqual({ files: 0, data: 0, kilobytes: 0 });
});

test('Dashboard bench: a live stream is open: its bytes so far are counted, and the view counts as complete', () => {
  const { count, emit, ask } = createCounted();
  ask('1', '/api/v1/stream', 'EventSource');
  emit('responseReceived', { requestId: '1', response: { encodedDataLength: 300, fromDiskCache: false } });
  emit('dataReceived', { requestId: '1', encodedDataLength: 700 });
  emit('dataReceived', { requestId: '1', encodedDataLength: -1 });
  expect(count.isWaiting).toBe(false);
  expect(count.take()).toEqual({ files: 0, data: 1, kilobytes: 1 });
});

test('Dashboard bench: a response is still missing: the view counts as incomplete', () => {
  const { count, ask, answer } = createCounted();
  ask('1', '/api/v1/latest');
  expect(count.isWaiting).toBe(true);
  answer('1', 10);
  expect(count.isWaiting).toBe(false);
});
