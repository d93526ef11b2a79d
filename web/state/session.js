import { Problem } from '../api/problem.js';
import { createRequests } from '../api/request.js';
import { useObservable, useServices } from './hooks.js';
import { createObservable } from './observable.js';

/** @import { Clock } from './clock.js' */

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
  const state = createObservable(UNKNOWN);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<void> | null} */
  let refreshing = null;

  /** @param {{ required: boolean, scopes: Scope[], ends_at: string | null }} session @param {{ left?: boolean }} [how] */
  function take({ required, scopes, ends_at }, { left = false } = {}) {
    const before = state.get();
    const isOut = required && !scopes.includes('read');
    const endsAt = ends_at === null ? null : Date.parse(ends_at);
    const hasEnded = isOut && !left && (before.isOut ? before.hasEnded : before !== UNKNOWN);
    state.set({ isOut, hasEnded, canLeave: endsAt !== null, scopes, endsAt });
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
      if (state.get().isOut)
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
  return useObservable(session.state).scopes.includes(scope);
}
