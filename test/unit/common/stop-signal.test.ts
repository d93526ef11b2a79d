import { afterEach, expect, jest, test } from '@jest/globals';
import { abortOnStop, listenForStop } from '../../../common/stop-signal.ts';

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const before = NAMES.map((name) => process.listeners(name));
afterEach(() => {
  jest.restoreAllMocks();
  NAMES.forEach((name, index) => {
    for (const listener of process.listeners(name)) {
      if (!before[index]?.includes(listener)) process.off(name, listener);
    }
  });
});

test('Stop signal: Ctrl-C arrives several times within 700 ms, as npm forwards it: one orderly stop; a later one kills', () => {
  let now = 1000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(console, 'error').mockImplementation(() => {});
  const calls: unknown[] = [];
  jest.spyOn(process, 'exit').mockImplementation((code) => calls.push(code) as never);
  listenForStop(
    (signal) => calls.push(signal),
    () => calls.push('kill'),
  );
  process.emit('SIGINT', 'SIGINT');
  process.emit('SIGINT', 'SIGINT');
  now += 700;
  process.emit('SIGTERM', 'SIGTERM');
  expect(calls).toEqual(['SIGINT']);
  now += 1;
  process.emit('SIGINT', 'SIGINT');
  expect(calls).toEqual(['SIGINT', 'kill', 130]);
});

test.each(NAMES)('Stop signal: %s: the work is aborted with an error that names the signal', (name) => {
  const signal = abortOnStop();
  expect(signal.aborted).toBe(false);
  process.emit(name, name);
  expect(signal.reason).toMatchObject({ code: 'failed', message: `Stopped by ${name}.` });
});
