import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createZone, formatDateTime, formatZone, hasOwnZone, LOCAL } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { useVerdict } from '../state/verdict.ts';
import { Choice } from './controls.tsx';
import { RACE, WHEEL } from './mark.ts';
import { Navigation, useCriticalMark, VerdictLabel, VerdictLine } from './navigation.tsx';
import { Slot } from './slots.tsx';
import './header.css';
import './page.css';
import type { ZoneName } from '../format.ts';
import type { Level, Verdict } from '../state/verdict.ts';

const THEMES = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export function Header() {
  const { router } = useServices();
  const { view } = router.routeOf(router.place.value.path);
  const verdict = useVerdict();
  useCriticalMark(verdict.level === 'critical');
  useBeginning();
  return (
    <HeaderBar
      view={view}
      level={verdict.level}
      status={<Connection verdict={verdict} />}
      line={view !== 'pipeline' && <VerdictLine verdict={verdict} />}
    >
      <Slot name="headerAction" />
    </HeaderBar>
  );
}

const DIAL = 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11M8 2.5v11M8 5h4.6M8 8h5.5M8 11h4.6';
const MENU = 'display-menu';

/** Renders a button with a menu of the theme and the time zone. Escape or a click outside of the menu closes it. */
function DisplayMenu() {
  const { preferences } = useServices();
  const { theme } = preferences.choice.value;
  return (
    <>
      <button type="button" class="button display-button" popovertarget={MENU} title="Theme and time zone">
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
          <path d={DIAL} />
        </svg>
        <span class="visually-hidden">Theme and time zone</span>
      </button>
      <div id={MENU} class="display-menu" popover="auto">
        <Choice
          legend="Theme"
          isTitled
          options={THEMES}
          value={theme}
          onChange={(next) => preferences.change({ theme: next })}
        />
        <ZoneChoice />
      </div>
    </>
  );
}

/** Renders the choice of the time zone for all times. If local time equals UTC, there is no choice. */
function ZoneChoice() {
  const { clock, preferences } = useServices();
  const { zone } = preferences.choice.value;
  // The offset may change while the page is open, when summer time begins or ends. So the clock updates it.
  const own = useComputed(() => formatZone(LOCAL, clock.time.value)).value;
  if (!hasOwnZone(new Date().getFullYear()) && !zone.name.includes('/')) return null;
  return (
    <Choice
      legend="Times are shown in"
      isTitled
      options={zones(zone.name, own)}
      value={zone.name}
      onChange={(name) => preferences.change({ zone: createZone(name) })}
    />
  );
}

/**
 * Delay in ms before the header connects to the event stream. Until then, a view may wait for an answer of the API and then
 * subscribe itself.
 */
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
  level,
  status,
  line,
  children,
}: {
  /** the shown view; undefined before the first view */
  view?: string;
  level?: Level;
  status?: ComponentChildren;
  /** content of a line below everything else in the header */
  line?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/" aria-label="Millrace">
          <Logo />
          <span>Millrace</span>
        </a>
        {view && <Navigation view={view} level={level} />}
        {status}
        <div class="header-choices">
          {children}
          <DisplayMenu />
          <SignOut />
        </div>
      </div>
      {line}
    </header>
  );
}

/**
 * Returns the options of the time zone. "Local" names its UTC offset. A zone from the range form is an option only while it is
 * chosen.
 *
 * @param own UTC offset of local time, as text
 */
function zones(chosen: ZoneName, own: string): Parameters<typeof Choice<ZoneName>>[0]['options'] {
  return [
    { value: 'local', label: `Local (${own})`, title: `Times as on the wall here, which is ${own}` },
    { value: 'utc', label: 'UTC', title: 'Times in UTC' },
    ...(chosen.includes('/')
      ? [{ value: chosen, label: cityOf(chosen), title: `Times of ${chosen}` } as const]
      : []),
  ];
}

const cityOf = (zone: ZoneName): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');

const WORDS = {
  live: { label: 'Live', title: 'Values change as they are committed' },
  connecting: { label: 'Connecting', title: 'Waiting for the first event from the server' },
  reconnecting: {
    label: 'Reconnecting',
    title: 'The connection is lost, and the values may be old. The page reconnects by itself',
  },
  paused: { label: 'Paused', title: 'Values are not updated while nobody sees the page' },
};

function Connection({ verdict }: { verdict: Verdict }) {
  const { live } = useServices();
  const status = live.status.value;
  if (verdict.level !== 'good') return <VerdictLabel verdict={verdict} status={status} />;
  const { label, title } = WORDS[status];
  return <VerdictLabel verdict={{ ...verdict, label, headline: title }} status={status} />;
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
