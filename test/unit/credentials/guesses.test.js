import { expect, test } from '@jest/globals';
import { createGuesses } from '../../../api/access/credentials/accounts.js';

const MINUTE_MS = 60_000;

function start() {
  let now = 0;
  const guesses = createGuesses({ clock: () => now });
  return {
    guesses,
    /** @param {string} address @param {number} times */
    guess(address, times) {
      for (let count = 0; count < times; count++) guesses.count(address);
    },
    /** @param {number} time in ms */
    at(time) {
      now = time;
      return guesses;
    },
  };
}

test('Failed logins: ten of an address: spent, for this address alone', () => {
  const { guesses, guess } = start();
  expect(guesses.areSpent('a')).toBe(false);
  guess('a', 9);
  expect(guesses.areSpent('a')).toBe(false);
  guess('a', 1);
  expect(guesses.areSpent('a')).toBe(true);
  guess('a', 100);
  expect(guesses.areSpent('a')).toBe(true);
  expect(guesses.areSpent('b')).toBe(false);
});

test('Failed logins: a minute after the first: counted anew, however late the last came', () => {
  const { at, guess } = start();
  at(1);
  guess('a', 9);
  at(MINUTE_MS - 1);
  guess('a', 5);
  expect(at(MINUTE_MS).areSpent('a')).toBe(true);
  expect(at(MINUTE_MS + 1).areSpent('a')).toBe(true);
  expect(at(MINUTE_MS + 2).areSpent('a')).toBe(false);
  guess('a', 9);
  expect(at(MINUTE_MS + 3).areSpent('a')).toBe(false);
});

test('Failed logins: 10,000 addresses are remembered: the one that guessed longest ago is forgotten first', () => {
  const { guesses, guess } = start();
  guess('a', 10);
  for (let other = 1; other < 10_000; other++) guesses.count(`address ${other}`);
  expect(guesses.areSpent('a')).toBe(true);
  for (let other = 0; other < 10_000; other++) guesses.count(`more ${other}`);
  expect(guesses.areSpent('a')).toBe(false);
});
