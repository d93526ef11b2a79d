import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Logger } from 'pino';
import { createLogger } from '../../../api/observability/logger.ts';

const EVERY_MS = 10_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function listen({ level = 'info', secrets }: { level?: string; secrets?: string[] } = {}) {
  const lines: string[] = [];
  const logger = createLogger(level, { secrets, destination: { write: (line) => void lines.push(line) } });
  return { logger, lines, read: () => lines.map((line) => JSON.parse(line)) };
}

describe('Logger: a secret', () => {
  const secrets = ['hush', 'hush-hush', 'quote "no"\\'];

  test.each([
    ['in a field of its own', (logger: Logger) => logger.info({ reason: 'hush' }, 'said')],
    ['within a text', (logger: Logger) => logger.warn('the server refuses hush-hush.')],
    ['in an error', (logger: Logger) => logger.error({ err: new Error('bad: quote "no"\\') }, 'failed')],
    ['in nested fields', (logger: Logger) => logger.info({ a: { b: ['mqtt://user:hush@broker'] } }, 'said')],
  ])('Logger: a secret %s: not written', (_, log) => {
    const { logger, lines, read } = listen({ secrets });
    log(logger);
    expect(read()).toHaveLength(1);
    expect(lines[0]).not.toMatch(/hush|quote \\"no/);
    expect(lines[0]).toContain('[secret]');
  });

  test('Logger: a secret of digits: hidden in texts and numbers, but not inside longer numbers, level or time', () => {
    const { logger, read } = listen({ secrets: ['30', '12', String(new Date().getFullYear())] });
    logger.info({ code: 12, port: 1201, took: '123 ms', at: 'host:12' }, 'the PIN 12 is refused');
    const { level, time, code, port, took, at, msg } = read()[0];
    expect({ level, code, port, took, at, msg }).toEqual({
      level: 30,
      code: '[secret]',
      port: 1201,
      took: '123 ms',
      at: 'host:[secret]',
      msg: 'the PIN [secret] is refused',
    });
    expect(Date.parse(time)).not.toBeNaN();
  });

  test('Logger: a field named password or authorization: hidden, even if its value is not in the settings', () => {
    const { logger, read } = listen();
    logger.info({ password: 'of a device', headers: { authorization: 'Bearer abc', host: 'h' } }, 'said');
    expect(read()[0]).toMatchObject({
      password: '[secret]',
      headers: { authorization: '[secret]', host: 'h' },
    });
  });
});

test('Logger: a text has control characters: no control character is written, and the parsed JSON line has the same text', () => {
  const { logger, lines, read } = listen();
  // All of C0 and C1, DEL, the separators of lines and paragraphs, and marks that change the writing direction.
  const codes = [
    ...Array.from({ length: 0x20 }, (_, at) => at),
    ...Array.from({ length: 0x21 }, (_, at) => 0x7f + at),
    ...[0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069],
  ];
  const name = `x${String.fromCharCode(...codes)}y \u009b2J é`;
  logger.warn({ topic: name, deep: { [name]: [name] } }, `from ${name}`);
  logger.error({ err: new Error(name) }, 'failed');
  expect(lines).toHaveLength(2);
  for (const line of lines)
    expect(line.replace(/\n$/, '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
  expect(read()).toMatchObject([
    { topic: name, deep: { [name]: [name] }, msg: `from ${name}` },
    { err: { message: name } },
  ]);
});

test('Logger: a line repeats 25 times: ten lines are written, and a later line counts the other 15', () => {
  const { logger, read } = listen();
  for (let i = 1; i <= 25; i++) logger.warn({ i }, 'again');
  expect(read().map(({ i }) => i)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  jest.advanceTimersByTime(EVERY_MS);
  expect(read().slice(10)).toMatchObject([{ i: 25, msg: 'again', unsaid: 15 }]);
  jest.advanceTimersByTime(EVERY_MS);
  expect(read()).toHaveLength(11);
  logger.warn({ i: 26 }, 'again');
  expect(read()).toHaveLength(12);
});

test('Logger: a line without fields repeats 12 times: ten lines are written, and a later line counts two more', () => {
  const { logger, read } = listen();
  for (let i = 0; i < 12; i++) logger.info('again');
  jest.advanceTimersByTime(EVERY_MS);
  expect(read()[10]).toMatchObject({ msg: 'again', unsaid: 2 });
});

test('Logger: a line repeats often: other lines still appear, and debug lines are not limited', () => {
  const { logger, read } = listen({ level: 'debug' });
  for (let i = 0; i < 30; i++) logger.warn('again');
  logger.warn('other');
  expect(read()).toHaveLength(11);
  for (let i = 0; i < 30; i++) logger.debug('again');
  expect(read()).toHaveLength(41);
});

test('Logger: an audit line repeats: every line is written', () => {
  const { logger, read } = listen();
  for (let i = 0; i < 25; i++) logger.info({ audit: true, target: `pump-${i}` }, 'a device was retired');
  expect(read()).toHaveLength(25);
});

test('Logger: 5,000 different texts: fewer than 600 lines are written within 10 s', () => {
  const { logger, read } = listen();
  for (let i = 0; i < 5000; i++) logger.warn(`text ${i}`);
  expect(read().length).toBeLessThan(600);
  jest.advanceTimersByTime(EVERY_MS);
  expect(read().at(-1)).toMatchObject({ msg: 'text 4999' });
});
