import { signal } from '@preact/signals';
import { createRequests, Problem } from '../api/request.ts';
import type { Clock } from './clock.ts';
import { useServices } from './hooks.ts';

type Scope = 'read' | 'ingest' | 'correct' | 'admin';

interface SessionState {
  isOut: boolean;
  /** whether the session ended without a sign-out */
  hasEnded: boolean;
  canLeave: boolean;
  scopes: readonly Scope[];
  /** end of the session in epoch ms */
  endsAt: number | null;
}

/** The state until the first answer: every request is allowed. */
const UNKNOWN: SessionState = {
  isOut: false,
  hasEnded: false,
  canLeave: false,
  scopes: ['read', 'ingest', 'correct', 'admin'],
  endsAt: null,
};

/** Delay in ms between the end of a session and the next check, because the clock of the API may be slightly behind. */
const AFTER_END_MS = 1000;

/** Creates the session of the user. Only a browser cookie holds the session, and no script can read that cookie. */
export function createSession({
  fetch,
  clock,
  tabs,
}: {
  fetch: typeof globalThis.fetch;
  clock: Pick<Clock, 'now'>;
  /** channel of all tabs, which share the cookie */
  tabs: Pick<BroadcastChannel, 'postMessage' | 'onmessage'>;
}) {
  const { get, requestOk, read } = createRequests({ fetch });
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

  /** Reads the session from the API. Without an answer, the last state stays. */
  function refresh(): Promise<void> {
    refreshing ??= get('/session', {})
      .then((session) => take(session))
      .catch(() => {})
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  }

  tabs.onmessage = ({ data }: MessageEvent<'begun' | 'left'>) => {
    if (data === 'begun') return void refresh();
    get('/session', {}).then(
      (session) => take(session, { left: true }),
      () => {},
    );
  };

  return {
    state,
    refresh,

    /** @throws {Problem} if the API refuses the token or does not answer, or the browser did not store the cookie */
    async begin(token: string): Promise<void> {
      await read('/session', undefined, { method: 'POST', body: { token } });
      const kept = await get('/session', {});
      take(kept);
      if (state.peek().isOut)
        throw new Problem({ title: 'The cookie was not kept', code: 'no_cookie', status: 400 });
      tabs.postMessage('begun');
    },

    async end(): Promise<void> {
      await requestOk('/session', undefined, { method: 'DELETE' });
      take(await get('/session', {}), { left: true });
      tabs.postMessage('left');
    },
  };
}

export type Session = ReturnType<typeof createSession>;

/** Wraps `fetch`, so that each answer 401 reads the session again. */
export const fetchWithSession =
  (fetch: typeof globalThis.fetch, session: Session): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 401) void session.refresh();
    return response;
  };

/** `admin` includes the other scopes. */
export function useMay(scope: Scope): boolean {
  const { scopes } = useServices().session.state.value;
  return scopes.includes(scope) || scopes.includes('admin');
}

/** Returns the reason why an action is disabled, as text. @param action label of the button of the action */
export const scopeText = (action: string, scope: Scope): string =>
  `Your token lacks the scope ${scope}, which ${action} needs.`;
