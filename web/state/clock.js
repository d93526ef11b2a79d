import { createObservable } from './observable.js';

/** The `Date` of an answer has whole seconds. */
const DATE_MS = 1000;

/**
 * The time that all ages on the screen are counted from; one tick a second, so that they move together. It is the API's: what
 * was measured has its times from there, and the clock of the machine in front of us may be wrong by hours.
 *
 * @param {{ everyMs?: number, local?: () => number }} [options] `local`: the machine's own, epoch ms
 */
export function createClock({ everyMs = 1000, local = Date.now } = {}) {
  let aheadMs = 0;
  const now = () => local() + aheadMs;
  const ticks = createObservable(now());
  setInterval(() => ticks.set(now()), everyMs);

  return {
    ...ticks,
    /** @returns {number} epoch ms, between the ticks, too */
    now,
    /** @returns {number} epoch ms by the machine's own clock, as `adjust` wants them */
    local,
    /**
     * Takes in what time it was there while we waited for an answer. We go no further than we have to: each answer brings us nearer, and
     * what is right already does not move.
     *
     * @param {number} date epoch ms, rounded down to whole seconds; NaN: the answer has no date
     * @param {{ askedAt: number, answeredAt: number }} here
     */
    adjust(date, { askedAt, answeredAt }) {
      const [min, max] = [date - answeredAt, date + DATE_MS - askedAt];
      if (!(min <= max)) return;
      const before = aheadMs;
      aheadMs = Math.min(Math.max(aheadMs, min), max);
      if (aheadMs !== before) ticks.set(now());
    },
  };
}

/** @typedef {ReturnType<typeof createClock>} Clock */

/** A clock that was set by more than this counted another time before, in ms. */
export const MOVED_MS = 5000;

/** @param {Pick<Clock, 'now' | 'local'>} clock @returns {number} ms that the API is ahead of this machine, as far as is known */
export const aheadOf = (clock) => clock.now() - clock.local();

/**
 * A fetch that adjusts the clock by the `Date` of each answer.
 *
 * @param {typeof globalThis.fetch} fetch
 * @param {Pick<Clock, 'adjust' | 'local'>} clock
 * @returns {typeof globalThis.fetch}
 */
export const datedFetch = (fetch, clock) => async (input, init) => {
  const askedAt = clock.local();
  const response = await fetch(input, init);
  clock.adjust(Date.parse(response.headers.get('Date') ?? ''), { askedAt, answeredAt: clock.local() });
  return response;
};
