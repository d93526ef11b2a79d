import { signal } from '@preact/signals';

/** Resolution of the header `Date` of an answer in ms. */
const DATE_MS = 1000;

/** The clock of the API, by which all ages are computed, because the clock of the user's machine may be wrong by hours. */
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
    time,
    /** Returns the current time in epoch ms, exact between two ticks. */
    now,
    /** Returns the time in epoch ms by the clock of the machine, as `adjust` needs it. */
    local,
    /** Moves the offset as little as the answer's `Date` requires. @param date epoch ms in whole seconds; NaN: the answer has no date */
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

/** Wraps `fetch`, so that the header `Date` of each answer adjusts the clock. */
export const fetchSettingClock =
  (fetch: typeof globalThis.fetch, clock: Pick<Clock, 'adjust' | 'local'>): typeof globalThis.fetch =>
  async (input, init) => {
    const askedAt = clock.local();
    const response = await fetch(input, init);
    clock.adjust(Date.parse(response.headers.get('Date') ?? ''), { askedAt, answeredAt: clock.local() });
    return response;
  };
