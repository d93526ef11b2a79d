/** @import { Clock } from '../state/clock.js' */

/**
 * A fetch that tells the clock by each answer what time it is there.
 *
 * @param {typeof globalThis.fetch} fetch
 * @param {Pick<Clock, 'hear' | 'local'>} clock
 * @returns {typeof globalThis.fetch}
 */
export const datedFetch = (fetch, clock) => async (input, init) => {
  const askedAt = clock.local();
  const response = await fetch(input, init);
  clock.hear(Date.parse(response.headers.get('Date') ?? ''), { askedAt, answeredAt: clock.local() });
  return response;
};
