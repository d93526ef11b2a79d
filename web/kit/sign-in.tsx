import { useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/request.ts';
import { useQuery, useServices, useTitle } from '../state/hooks.ts';
import { GOOD } from '../state/verdict.ts';
import { useCriticalMark, VerdictLine } from './verdict.tsx';
import './header.css';
import type { Readiness } from '../api/types.ts';
import type { Verdict } from '../state/verdict.ts';

const WORDS: Record<string, string> = {
  unauthorized: 'This token is not known here.',
  forbidden: 'This token may send measurements, but not read what is here.',
  rate_limited: 'Too many wrong tokens came from here. Wait a minute, and try again.',
  unreachable: 'The API cannot be reached. Try again in a moment.',
  no_cookie:
    'The token is right, but the browser did not keep the cookie: it takes that over https alone. Open the dashboard by an address that begins with https.',
};

/** Replaces every view until the user signs in. The address stays, so the wanted view appears afterwards. */
export function SignIn() {
  const { session } = useServices();
  const { hasEnded } = session.state.value;
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState('');
  const field = useRef<HTMLInputElement | null>(null);
  const verdict = useReadiness();
  useTitle('Sign in');
  useCriticalMark(verdict.level === 'critical');
  useEffect(() => field.current?.focus(), []);

  async function submit(event: Event) {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (busy || !token) return;
    setBusy(true);
    setFailure('');
    try {
      await session.begin(token);
    } catch (error) {
      const { code, message } = toProblem(error);
      setFailure(WORDS[code] ?? `${message}.`);
      setBusy(false);
      field.current?.select();
    }
  }

  return (
    <section class="sign-in" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Sign in</h1>
      <VerdictLine verdict={verdict} isLinked={false} />
      <p>
        {hasEnded
          ? 'Your session has ended. Sign in again, and you are back where you were.'
          : 'Values are shown to those who have a token of this installation.'}
      </p>
      <form onSubmit={submit}>
        <label class="small" for="sign-in-token">
          Token
        </label>
        <div class="sign-in-row">
          <input
            ref={field}
            id="sign-in-token"
            type="password"
            autocomplete="current-password"
            autocapitalize="none"
            spellcheck={false}
            required
            aria-invalid={failure ? 'true' : undefined}
            aria-describedby="sign-in-failure"
            onInput={() => setFailure('')}
          />
          <button type="submit" class="button main-button" aria-disabled={busy}>
            {busy ? 'Signing in…' : 'Sign in'}
          </button>
        </div>
        <p id="sign-in-failure" class="sign-in-failure" role="alert">
          {failure}
        </p>
      </form>
      <p class="small">
        The browser keeps a cookie until you sign out or the session ends, and never the token. The operator
        of this installation issues tokens.
      </p>
    </section>
  );
}

const REFRESH = { refreshMs: 5000 };

const UNREACHABLE: Verdict = {
  ...GOOD,
  level: 'critical',
  label: 'No answer',
  headline: 'The API does not answer. Signing in works once it does.',
};

/** Returns the verdict before the sign-in. It comes from `/readyz`, which needs no session, because the event stream needs a session. */
function useReadiness(): Verdict {
  const { client } = useServices();
  const ask = (signal: AbortSignal) => client.readiness(signal).then(readinessVerdict, unreadable);
  const { data } = useQuery('readiness', ask, REFRESH);
  return data ?? GOOD;
}

/** @returns the verdict "good" if a proxy answered in place of the API, because then nothing is known */
const unreadable = (error: unknown): Verdict =>
  toProblem(error).code === 'unreachable' ? UNREACHABLE : GOOD;

export function readinessVerdict({ ready, checks }: Readiness): Verdict {
  if (ready) return GOOD;
  const failed = Object.keys(checks).filter((name) => checks[name]?.ok === false);
  return { ...GOOD, level: 'critical', label: 'Not ready', headline: headlineOf(failed) };
}

function headlineOf(failed: string[]) {
  if (failed.includes('database')) return 'The database does not answer. Nothing can be stored or read.';
  if (failed.includes('broker')) return 'The broker is out of reach. Nothing arrives.';
  return `The installation is not ready: the check ${failed.join(' and ')} fails.`;
}
