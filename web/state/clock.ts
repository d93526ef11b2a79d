import { signal } from '@preact/signals';

/** The `Date` of an answer has whole seconds. */
const DATE_MS = 1000;

/**
 * Time of the API, from which all ages on the screen are counted. One tick a second, so that they move together. The clock of the
 * reader's machine may be wrong by hours.
 *
 * @param options `local`: the machine's own, epoch ms
 */
export function createClock({
  everyMs = 1000,
  local = Date.now,
}: {
  everyMs?: number;
  local?: () => number;
} = {}) {
  let aheadMs = 0;
  const now = () => local() + aheadMs;
  const time = signal(now());
  setInterval(() => {
    time.value = now();
  }, everyMs);

  return {
    /** Epoch ms of the last tick. */
    time,
    /** Epoch ms, between the ticks, too. */
    now,
    /** Epoch ms by the machine's own clock, as `adjust` wants them. */
    local,
    /**
     * Moves the offset as little as the answer's `Date` requires.
     *
     * @param date epoch ms, rounded down to whole seconds; NaN: the answer has no date
     */
    adjust(date: number, { askedAt, answeredAt }: { askedAt: number; answeredAt: number }) {
      const [min, max] = [date - answeredAt, date + DATE_MS - askedAt];
      if (!(min <= max)) return;
      const before = aheadMs;
      aheadMs = Math.min(Math.max(aheadMs, min), max);
      if (aheadMs !== before) time.value = now();
    },
  };
}

export type Clock = ReturnType<typeof createClock>;

/** A clock that moves by more than this has counted another time before, in ms. */
export const MOVED_MS = 5000;

/** @returns ms that the API is ahead of this machine, as far as is known */
export const aheadOf = (clock: Pick<Clock, 'now' | 'local'>): number => clock.now() - clock.local();

/** A fetch that adjusts the clock by the `Date` of each answer. */
export const fetchSettingClock =
  (fetch: typeof globalThis.fetch, clock: Pick<Clock, 'adjust' | 'local'>): typeof globalThis.fetch =>
  async (input, init) => {
    const askedAt = clock.local();
    const response = await fetch(input, init);
    clock.adjust(Date.parse(response.headers.get('Date') ?? ''), { askedAt, answeredAt: clock.local() });
    return response;
  };
