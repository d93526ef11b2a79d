import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { formatDateTime } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';

const DOOR = 'M9.5 4.5v-2h-7v11h7v-2M6 8h7.5M11 5.5 13.5 8 11 10.5';

/** Ends the session; not there where there is none. */
export function SignOut() {
  const { session, preferences } = useParts();
  const { zone } = useObservable(preferences);
  const { canLeave, endsAt } = useObservable(session.state);
  const [failed, setFailed] = useState(false);
  if (!canLeave || endsAt === null) return null;
  const title = failed
    ? 'That did not work: the API cannot be reached. Try again'
    : `Sign out; by itself the session ends ${formatDateTime(endsAt, zone)}`;
  return html`
    <button type="button" class="button sign-out" title=${title} data-failed=${failed} onClick=${() => {
      setFailed(false);
      session.end().catch(() => setFailed(true));
    }}>
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${DOOR} /></svg>
      <span>Sign out</span>
      <span class="said" role="status">${failed ? 'Not signed out: the API cannot be reached.' : ''}</span>
    </button>
  `;
}
