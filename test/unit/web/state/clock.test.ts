import { expect, jest, test } from '@jest/globals';
import { createClock, fetchSettingClock } from '../../../../web/state/clock.ts';

jest.useFakeTimers();

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 14, 30, 0, 400);

/** A browser whose clock is wrong, and an API whose clock is right. @param wrongMs added to the right time */
function wrongBy(wrongMs: number) {
  let now = NOW;
  const clock = createClock({ local: () => now + wrongMs });
  const answer = async () => {
    now += 40;
    const date = new Date(now).toUTCString();
    now += 40;
    return new Response('', { headers: { Date: date } });
  };
  return { clock, fetch: fetchSettingClock(answer, clock), now: () => now };
}

test.each([HOUR, -HOUR, 90_000, -90_000, 5 * 365 * 24 * HOUR])(
  'Server clock in the browser: browser clock is wrong by %d ms: error of at most 1080 ms after one API answer',
  async (wrongMs) => {
    const { clock, fetch, now } = wrongBy(wrongMs);
    await fetch('/');
    expect(Math.abs(clock.now() - now())).toBeLessThanOrEqual(1080);
    expect(clock.time.peek()).toBe(clock.now());
  },
);

test.each([0, 300, -300, HOUR])(
  'Server clock in the browser: browser clock is wrong by %d ms: error of at most 80 ms after 50 API answers',
  async (wrongMs) => {
    const { clock, fetch, now } = wrongBy(wrongMs);
    let off = Math.abs(clock.now() - now());
    for (let answer = 0; answer < 50; answer += 1) {
      await fetch('/');
      const offNow = Math.abs(clock.now() - now());
      expect(offNow).toBeLessThanOrEqual(off);
      off = offNow;
    }
    expect(off).toBeLessThanOrEqual(80);
  },
);

test('Server clock in the browser: API answer without date, or browser clock jumps back meanwhile: the answer is ignored', () => {
  const clock = createClock({ local: () => NOW });
  clock.adjust(Number.NaN, { askedAt: NOW, answeredAt: NOW });
  clock.adjust(NOW + HOUR, { askedAt: NOW, answeredAt: NOW - HOUR });
  expect(clock.now()).toBe(NOW);
});
