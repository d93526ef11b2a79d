import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { formatDateTime } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { RACE, WHEEL } from './mark.ts';
import { Navigation } from './navigation.tsx';
import { Slot, useDiagnosis } from './slots.tsx';
import { Connection, useCriticalMark, useVerdict, VerdictLine } from './verdict.tsx';
import './header.css';
import './page.css';

export function Header() {
  const { router } = useServices();
  const { view } = router.routeOf(router.place.value.path);
  const verdict = useVerdict();
  const diagnosis = useDiagnosis();
  useCriticalMark(verdict.level === 'critical');
  useBeginning();
  return (
    <HeaderBar
      view={view}
      status={<Connection verdict={verdict} />}
      line={view !== diagnosis?.name && <VerdictLine verdict={verdict} />}
    />
  );
}

/** Delay in ms before the header connects to the event stream, so that a view may subscribe itself first. */
const BEGIN_AFTER_MS = 1500;

/** After a delay, connects to the event stream even if no view does, so that the verdict is known. */
function useBeginning() {
  const { live } = useServices();
  useEffect(() => {
    const timer = setTimeout(() => live.begin(), BEGIN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [live]);
}

export function HeaderBar({
  view,
  status,
  line,
}: {
  view?: string;
  status?: ComponentChildren;
  line?: ComponentChildren;
}) {
  return (
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/" aria-label="Millrace">
          <Logo />
          <span>Millrace</span>
        </a>
        {view && <Navigation view={view} />}
        {status}
        <div class="header-choices">
          <Slot name="headerAction" />
          <SignOut />
        </div>
      </div>
      {line}
    </header>
  );
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">
      <circle cx="12" cy="9.4" r="4.5" />
      <circle cx="12" cy="9.4" r="0.6" />
      <path d={WHEEL} />
      <path class="logo-race" d={RACE} />
    </svg>
  );
}

const DOOR = 'M9.5 4.5v-2h-7v11h7v-2M6 8h7.5M11 5.5 13.5 8 11 10.5';

function SignOut() {
  const { session, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { canLeave, endsAt } = session.state.value;
  const [failed, setFailed] = useState(false);
  if (!canLeave || endsAt === null) return null;
  const title = failed
    ? 'That did not work: the API cannot be reached. Try again'
    : `Sign out; by itself the session ends ${formatDateTime(endsAt, zone)}`;
  return (
    <button
      type="button"
      class="button sign-out"
      title={title}
      data-failed={failed}
      onClick={() => {
        setFailed(false);
        session.end().catch(() => setFailed(true));
      }}
    >
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d={DOOR} />
      </svg>
      <span>Sign out</span>
      <span class="visually-hidden" role="status">
        {failed ? 'Not signed out: the API cannot be reached.' : ''}
      </span>
    </button>
  );
}
