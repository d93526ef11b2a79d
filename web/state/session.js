import { signal } from '@preact/signals';
import { createRequests, Problem } from '../api/request.js';
import { useServices } from './hooks.js';

/**
 * @typedef {'read' | 'ingest' | 'admin'} Scope
 *
 * @typedef {object} SessionState
 * @property {boolean} isOut the reader has to sign in
 * @property {boolean} hasEnded the session ended without a sign-out
 * @property {boolean} canLeave there is a session that can be ended
 * @property {readonly Scope[]} scopes of the session
 * @property {number | null} endsAt epoch ms
 */

/** Until the first answer, every request is allowed. @type {SessionState} */
const UNKNOWN = {
  isOut: false,
  hasEnded: false,
  canLeave: false,
  scopes: ['read', 'ingest', 'admin'],
  endsAt: null,
};

/** Once it is over by the clock, the API must think so, too. In ms. */
const AFTER_END_MS = 1000;

/**
 * The session of the reader by the API. Only the browser's cookie keeps it, and no script can read that.
 *
 * @param {object} deps
 * @param {typeof globalThis.fetch} deps.fetch
 * @param {Pick<Clock, 'now'>} deps.clock
 */
export function createSession({ fetch, clock }) {
  const { get, good, read } = createRequests({ fetch });
  const state = signal(UNKNOWN);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<void> | null} */
  let refreshing = null;

  /** @param {{ required: boolean, scopes: Scope[], ends_at: string | null }} session @param {{ left?: boolean }} [how] */
  function take({ required, scopes, ends_at }, { left = false } = {}) {
    const before = state.peek();
    const isOut = required && !scopes.includes('read');
    const endsAt = ends_at === null ? null : Date.parse(ends_at);
    const hasEnded = isOut && !left && (before.isOut ? before.hasEnded : before !== UNKNOWN);
    state.value = { isOut, hasEnded, canLeave: endsAt !== null, scopes, endsAt };
    clearTimeout(timer);
    if (endsAt !== null) timer = setTimeout(refresh, endsAt - clock.now() + AFTER_END_MS);
  }

  /** Reads the session. Without an answer, the last state stays. @returns {Promise<void>} */
  function refresh() {
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

    /** @param {string} token @returns {Promise<void>} @throws {Problem} */
    async begin(token) {
      await read('/session', undefined, { method: 'POST', body: { token } });
      const kept = await get('/session', {});
      take(kept);
      if (state.peek().isOut)
        throw new Problem({ title: 'The cookie was not kept', code: 'no_cookie', status: 400 });
    },

    /** @returns {Promise<void>} @throws {Problem} */
    async end() {
      await good('/session', undefined, { method: 'DELETE' });
      take(await get('/session', {}), { left: true });
    },
  };
}

/** @typedef {ReturnType<typeof createSession>} Session */

/**
 * A fetch that refreshes the session after each answer 401.
 *
 * @param {typeof globalThis.fetch} fetch
 * @param {Session} session
 * @returns {typeof globalThis.fetch}
 */
export const knownFetch = (fetch, session) => async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === 401) void session.refresh();
  return response;
};

/** @param {Scope} scope @returns {boolean} whether the session has it */
export function useMay(scope) {
  const { session } = useServices();
  return session.state.value.scopes.includes(scope);
}

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
  const time = signal(now());
  setInterval(() => {
    time.value = now();
  }, everyMs);

  return {
    /** Epoch ms of the last tick. */
    time,
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
      if (aheadMs !== before) time.value = now();
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
