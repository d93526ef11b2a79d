import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';

/** Messages by the API's codes. @type {Record<string, string>} */
const WORDS = {
  unauthorized: 'This token is not known here.',
  forbidden: 'This token may send measurements, but not read what is here.',
  rate_limited: 'Too many wrong tokens came from here. Wait a minute, and try again.',
  unreachable: 'The API cannot be reached. Try again in a moment.',
  no_cookie:
    'The token is right, but the browser did not keep the cookie: it takes that over https alone. Open the dashboard by an address that begins with https.',
};

/** Replaces every view until the reader signs in. The address stays, so the wanted view follows. */
export function SignIn() {
  const { session } = useServices();
  const { hasEnded } = useObservable(session.state);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useTitle('Sign in');
  useEffect(() => field.current?.focus(), []);

  /** @param {Event} event */
  async function submit(event) {
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

  return html`
    <section class="sign-in" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Sign in</h1>
      <p>
        ${hasEnded ? 'Your session has ended. Sign in again, and you are back where you were.' : 'Values are shown to those who have a token of this installation.'}
      </p>
      <form onSubmit=${submit}>
        <label for="sign-in-token">Token</label>
        <div class="sign-in-row">
          <input
            ref=${field}
            id="sign-in-token"
            type="password"
            autocomplete="current-password"
            autocapitalize="none"
            spellcheck=${false}
            required
            aria-invalid=${failure ? 'true' : undefined}
            aria-describedby="sign-in-failure"
            onInput=${() => setFailure('')}
          />
          <button type="submit" class="button main-button" aria-disabled=${busy}>${busy ? 'Signing in …' : 'Sign in'}</button>
        </div>
        <p id="sign-in-failure" class="sign-in-failure" role="alert">${failure}</p>
      </form>
      <p class="sign-in-note">
        The browser keeps a cookie until you sign out or the session ends, and never the token. The operator of this
        installation issues tokens.
      </p>
    </section>
  `;
}
