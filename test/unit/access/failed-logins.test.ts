import { expect, test } from '@jest/globals';
import { FailedLogins } from '../../../api/access/accounts.ts';

const MINUTE_MS = 60_000;

function start() {
  let now = 0;
  const failedLogins = new FailedLogins({ clock: () => now });
  return {
    failedLogins,
    guess(address: string, times: number) {
      for (let count = 0; count < times; count++) failedLogins.record(address);
    },
    /** @param time in ms */
    at(time: number) {
      now = time;
      return failedLogins;
    },
  };
}

test('Failed logins: ten failures from one IP address: this address is blocked, other addresses are not', () => {
  const { failedLogins, guess } = start();
  expect(failedLogins.isBlocked('a')).toBe(false);
  guess('a', 9);
  expect(failedLogins.isBlocked('a')).toBe(false);
  guess('a', 1);
  expect(failedLogins.isBlocked('a')).toBe(true);
  guess('a', 100);
  expect(failedLogins.isBlocked('a')).toBe(true);
  expect(failedLogins.isBlocked('b')).toBe(false);
});

test('Failed logins: a minute after the first failure of an IP address: the address is no longer blocked, counting starts at zero', () => {
  const { at, guess } = start();
  at(1);
  guess('a', 9);
  at(MINUTE_MS - 1);
  guess('a', 5);
  expect(at(MINUTE_MS).isBlocked('a')).toBe(true);
  expect(at(MINUTE_MS + 1).isBlocked('a')).toBe(true);
  expect(at(MINUTE_MS + 2).isBlocked('a')).toBe(false);
  guess('a', 9);
  expect(at(MINUTE_MS + 3).isBlocked('a')).toBe(false);
});

test('Failed logins: more than 10,000 IP addresses failed: the address with the oldest failure is forgotten first', () => {
  const { failedLogins, guess } = start();
  guess('a', 10);
  for (let other = 1; other < 10_000; other++) failedLogins.record(`address ${other}`);
  expect(failedLogins.isBlocked('a')).toBe(true);
  for (let other = 0; other < 10_000; other++) failedLogins.record(`more ${other}`);
  expect(failedLogins.isBlocked('a')).toBe(false);
});
