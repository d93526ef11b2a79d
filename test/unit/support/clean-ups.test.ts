import { expect, test } from '@jest/globals';
import { runCleanUps } from '../../support/clean-ups.ts';

test('Clean-ups after a test: two clean-ups fail: all clean-ups run in reverse order, and the first failure is thrown', async () => {
  const ran: string[] = [];
  const cleanUps = [
    () => void ran.push('system'),
    async () => {
      ran.push('store');
      throw new Error('the store is away');
    },
    () => {
      ran.push('client');
      throw new Error('the client is away');
    },
  ];
  await expect(runCleanUps(cleanUps)).rejects.toThrow('the client is away');
  expect(ran).toEqual(['client', 'store', 'system']);
  expect(cleanUps).toEqual([]);
});
