import { signal } from '@preact/signals';
import { createRequests, Problem } from '../api/request.ts';
import { useServices } from './hooks.ts';

type Scope = 'read' | 'ingest' | 'admin';

interface SessionState {
  /** the reader has to sign in */
  isOut: boolean;
  /** the session ended without a sign-out */
  hasEnded: boolean;
  /** there is a session that can be ended */
  canLeave: boolean;
  /** of the session */
  scopes: readonly Scope[];
  /** epoch ms */
  endsAt: number | null;
}

/** Until the first answer, every request is allowed. */
const UNKNOWN: SessionState = {
  isOut: false,
  hasEnded: false,
  canLeave: false,
  scopes: ['read', 'ingest', 'admin'],
  endsAt: null,
};

/** Once it is over by the clock, the API must think so, too. In ms. */
const AFTER_END_MS = 1000;

/** The session of the reader by the API. Only the browser's cookie keeps it, and no script can read that. */
export function createSession({
  fetch,
  clock,
}: {
  fetch: typeof globalThis.fetch;
  clock: Pick<Clock, 'now'>;
}) {
  const { get, good, read } = createRequests({ fetch });
  const state = signal(UNKNOWN);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let refreshing: Promise<void> | null = null;

  function take(
    { required, scopes, ends_at }: { required: boolean; scopes: Scope[]; ends_at: string | null },
    { left = false }: { left?: boolean } = {},
  ) {
    const before = state.peek();
    const isOut = required && !scopes.includes('read');
    const endsAt = ends_at === null ? null : Date.parse(ends_at);
    const hasEnded = isOut && !left && (before.isOut ? before.hasEnded : before !== UNKNOWN);
    state.value = { isOut, hasEnded, canLeave: endsAt !== null, scopes, endsAt };
    clearTimeout(timer);
    if (endsAt !== null) timer = setTimeout(refresh, endsAt - clock.now() + AFTER_END_MS);
  }

  /** Reads the session. Without an answer, the last state stays. */
  function refresh(): Promise<void> {
    refreshing ??= get('/session', {})
      .then((session) => take(session))
      .catch(() => {})
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  }

  return {
    state,
    refresh,

    /** @throws {Problem} */
    async begin(token: string): Promise<void> {
      await read('/session', undefined, { method: 'POST', body: { token } });
      const kept = await get('/session', {});
      take(kept);
      if (state.peek().isOut)
        throw new Problem({ title: 'The cookie was not kept', code: 'no_cookie', status: 400 });
    },

    /** @throws {Problem} */
    async end(): Promise<void> {
      await good('/session', undefined, { method: 'DELETE' });
      take(await get('/session', {}), { left: true });
    },
  };
}

export type Session = ReturnType<typeof createSession>;

/** A fetch that refreshes the session after each answer 401. */
export const knownFetch =
  (fetch: typeof globalThis.fetch, session: Session): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 401) void session.refresh();
    return response;
  };

/** @returns whether the session has it */
export function useMay(scope: Scope): boolean {
  const { session } = useServices();
  return session.state.value.scopes.includes(scope);
}

/** The `Date` of an answer has whole seconds. */
const DATE_MS = 1000;

/**
 * The time that all ages on the screen are counted from; one tick a second, so that they move together. It is the API's: what
 * was measured has its times from there, and the clock of the machine in front of us may be wrong by hours.
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
     * Takes in what time it was there while we waited for an answer. We go no further than we have to: each answer brings us nearer, and
     * what is right already does not move.
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

/** A clock that was set by more than this counted another time before, in ms. */
export const MOVED_MS = 5000;

/** @returns ms that the API is ahead of this machine, as far as is known */
export const aheadOf = (clock: Pick<Clock, 'now' | 'local'>): number => clock.now() - clock.local();

/** A fetch that adjusts the clock by the `Date` of each answer. */
export const datedFetch =
  (fetch: typeof globalThis.fetch, clock: Pick<Clock, 'adjust' | 'local'>): typeof globalThis.fetch =>
  async (input, init) => {
    const askedAt = clock.local();
    const response = await fetch(input, init);
    clock.adjust(Date.parse(response.headers.get('Date') ?? ''), { askedAt, answeredAt: clock.local() });
    return response;
  };
