import { expect, jest, test } from '@jest/globals';
import { createAccessNotices } from '../../../api/ingest/broker/access-notices.js';

/** @param {number} [everyMs] */
function createNotices(everyMs) {
  const warn = jest.fn();
  const logger = /** @type {any} */ ({ warn });
  return { notices: createAccessNotices({ logger, everyMs }), lines: () => warn.mock.calls };
}

test('of each device, and of what it did, one line', () => {
  const { notices, lines } = createNotices();
  for (const account of ['a', 'a', 'b', 'a']) notices.forbidden(account, 'publish', 'iot/v1/x/birth');
  notices.forbidden('a', 'subscribe', '#');
  expect(lines().map(([fields]) => fields)).toEqual([
    { account: 'a', what: 'publish', topic: 'iot/v1/x/birth' },
    { account: 'b', what: 'publish', topic: 'iot/v1/x/birth' },
    { account: 'a', what: 'subscribe', topic: '#' },
  ]);
});

test('of failed sign-ins one in all, whatever names were given', () => {
  const { notices, lines } = createNotices();
  for (let at = 0; at < 1000; at++) notices.signIn(`stranger-${at}`);
  expect(lines()).toHaveLength(1);
});

test('what strangers write is cut, and moves no cursor', () => {
  const { notices, lines } = createNotices();
  notices.signIn(`\u001b[2J\n\u202e${'x'.repeat(10_000)}`);
  const [fields] = /** @type {any[]} */ (lines()[0]);
  expect(fields.account).toMatch(/^\?\[2J\?\?x+…$/);
  expect(fields.account.length).toBeLessThan(150);
});
