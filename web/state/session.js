import { Problem } from '../api/problem.js';
import { createRequests } from '../api/request.js';
import { useObservable, useServices } from './hooks.js';
import { createObservable } from './observable.js';

/** @import { Clock } from './clock.js' */

/**
 * @typedef {'read' | 'ingest' | 'admin'} Scope
 *
 * @typedef {object} SessionState
 * @property {boolean} isOut whoever is here has to sign in before he sees anything
 * @property {boolean} hasEnded and he was in before, and did not leave himself
 * @property {boolean} canLeave there is a session that can be ended
 * @property {readonly Scope[]} scopes what he may do
 * @property {number | null} endsAt epoch ms
 */

/** Until the API has said something, nobody is kept from asking. @type {SessionState} */
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
 * Who is here, as the API says it; the browser's cookie is all that remembers it, and no script can read that.
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

  /** @param {{ required: boolean, scopes: Scope[], ends_at: string | null }} told @param {{ left?: boolean }} [how] */
  function take({ required, scopes, ends_at }, { left = false } = {}) {
    const before = state.get();
    const isOut = required && !scopes.includes('read');
    const endsAt = ends_at === null ? null : Date.parse(ends_at);
    const hasEnded = isOut && !left && (before.isOut ? before.hasEnded : before !== UNKNOWN);
    state.set({ isOut, hasEnded, canLeave: endsAt !== null, scopes, endsAt });
    clearTimeout(timer);
    if (endsAt !== null) timer = setTimeout(refresh, endsAt - clock.now() + AFTER_END_MS);
  }

  /** Asks who is here. Where there is no answer, what was so before stands. @returns {Promise<void>} */
  function refresh() {
    refreshing ??= get('/session', {})
      .then((told) => take(told))
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
 * A fetch that has it looked into when an answer says that whoever asks is not known.
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

/** @param {Scope} scope @returns {boolean} whether whoever is here may do that */
export function useMay(scope) {
  const { session } = useServices();
  return useObservable(session.state).scopes.includes(scope);
}
