import { expect, jest, test } from '@jest/globals';
import { AccessNotices } from '../../../../api/mqtt/embedded/authentication.ts';

function createNotices(everyMs?: number) {
  const warn = jest.fn();
  const logger = { warn } as never;
  return { notices: new AccessNotices({ logger, everyMs }), lines: () => warn.mock.calls };
}

test('Access log: forbidden requests: one log line per account and kind of request', () => {
  const { notices, lines } = createNotices();
  for (const account of ['a', 'a', 'b', 'a']) notices.forbidden(account, 'publish', 'iot/v1/x/birth');
  notices.forbidden('a', 'subscribe', '#');
  expect(lines().map(([fields]) => fields)).toEqual([
    { account: 'a', what: 'publish', topic: 'iot/v1/x/birth' },
    { account: 'b', what: 'publish', topic: 'iot/v1/x/birth' },
    { account: 'a', what: 'subscribe', topic: '#' },
  ]);
});

test('Access log: failed sign-ins with many account names: one log line per IP address', () => {
  const { notices, lines } = createNotices();
  for (let at = 0; at < 1000; at++) notices.signIn(`stranger-${at}`, `192.0.2.${at % 2}`);
  expect(lines().map(([fields]) => fields)).toEqual([
    { account: 'stranger-0', address: '192.0.2.0', failed: 1 },
    { account: 'stranger-1', address: '192.0.2.1', failed: 1 },
  ]);
});

test('Access log: account names: written truncated and without control characters', () => {
  const { notices, lines } = createNotices();
  notices.signIn(`\u001b[2J\n\u202e${'x'.repeat(10_000)}`, '192.0.2.1');
  const [fields] = lines()[0] as [{ account: string }];
  expect(fields.account).toMatch(/^\?\[2J\?\?x+…$/);
  expect(fields.account.length).toBeLessThan(150);
});
