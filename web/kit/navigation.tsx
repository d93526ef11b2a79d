import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatDuration, formatTime } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { useMay } from '../state/session.ts';
import { useStale, useVerdict } from '../state/verdict.ts';
import { iconOf } from './mark.ts';
import type { Page } from './slots.tsx';
import { useFeaturePages } from './slots.tsx';
import './header.css';
import type { Level, Verdict } from '../state/verdict.ts';

const MOST_SHOWN = 999;

/**
 * Renders the number next to a link of the navigation.
 *
 * @param props `text`: the number, if it is not too large; `what`: what it counts
 */
export const Count = ({
  count,
  text = formatCount(count),
  what,
  isCritical,
}: {
  count: number;
  text?: string;
  what: string;
  isCritical?: boolean;
}) => (
  <span class="navigation-count" data-critical={isCritical} title={`${text} ${what}`}>
    {count > MOST_SHOWN ? `${formatCount(MOST_SHOWN)}+` : text}
    <span class="visually-hidden"> {what}</span>
  </span>
);

/**
 * Renders links to the main views and to the manual.
 *
 * @param props `view`: the shown view; `level`: level of the verdict on the installation
 */
export function Navigation({ view, level = 'good' }: { view: string; level?: Level }) {
  const { scopes } = useServices().session.state.value;
  const all = useFeaturePages();
  const pages = all.filter(
    ({ place, scope }) => place === 'navigation' && (!scope || scopes.includes(scope)),
  );
  const isOfFleet = [
    'device',
    'sensor',
    ...all.filter(({ place }) => place === 'lists').map(({ name }) => name),
  ];
  const current = (isHere: boolean) => (isHere ? 'page' : undefined);
  const nav = useRef<HTMLElement | null>(null);
  const more = useMore(nav, [view, ...pages.map(({ name }) => name)].join(' '));
  return (
    <nav class="navigation" aria-label="Views" ref={nav}>
      {more.left && <More nav={nav} side="left" />}
      <a href="/" aria-current={current(view === 'fleet')} data-within={isOfFleet.includes(view)}>
        Fleet
      </a>
      <a href="/pipeline" aria-current={current(view === 'pipeline')}>
        Pipeline
        <VerdictMark level={level} />
      </a>
      {pages.map((page) => (
        <PageLink key={page.name} {...page} isHere={view === page.name} />
      ))}
      <a
        class="navigation-manual"
        href="/docs/"
        title="Tutorials, how-to pages, and the interfaces"
        data-native
      >
        Manual
      </a>
      {more.right && <More nav={nav} side="right" />}
    </nav>
  );
}

function PageLink({ name, label, Badge, Link, isHere }: Page & { isHere: boolean }) {
  const mayRead = useMay('read');
  if (Link) return <Link isHere={isHere} />;
  return (
    <a href={`/${name}`} aria-current={isHere ? 'page' : undefined}>
      {label}
      {mayRead && Badge && <Badge />}
    </a>
  );
}

type Side = 'left' | 'right';
type Row = { current: HTMLElement | null };

/** Renders an arrow at an edge of the row of links behind which more links follow. Keyboards reach the links without it. */
const More = ({ nav, side }: { nav: Row; side: Side }) => (
  <button
    type="button"
    class="navigation-more"
    data-side={side}
    tabIndex={-1}
    aria-hidden="true"
    onClick={() => nav.current?.scrollBy({ left: (side === 'left' ? -1 : 1) * STEP_PX, behavior: 'smooth' })}
  >
    {side === 'left' ? '‹' : '›'}
  </button>
);

/** Width in px by which an arrow scrolls the row of links: about two links. */
const STEP_PX = 180;

/**
 * Scrolls the link of the shown view to the middle, because not all links fit on a phone. From the first scroll by the
 * user on, the row stays in its place until the view changes, also when a number in a link grows.
 *
 * @param shown view and links of the row
 * @returns on which sides of the row of links more links follow
 */
function useMore(nav: Row, shown: string): Record<Side, boolean> {
  const [more, setMore] = useState({ left: false, right: false });
  useEffect(() => {
    const { current } = nav;
    if (!current) return undefined;
    const measure = () => {
      const { scrollLeft, clientWidth, scrollWidth } = current;
      const next = { left: scrollLeft > 1, right: scrollLeft + clientWidth < scrollWidth - 1 };
      setMore((now) => (now.left === next.left && now.right === next.right ? now : next));
    };
    let ownScroll: number | null = null;
    // The numbers in the links arrive later than the links, and move them.
    const resizes = new ResizeObserver(() => {
      if (ownScroll === null || current.scrollLeft === ownScroll) {
        current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
        ownScroll = current.scrollLeft;
      }
      measure();
    });
    for (const element of [current, ...current.querySelectorAll('a')]) resizes.observe(element);
    current.addEventListener('scroll', measure);
    return () => {
      resizes.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [nav, shown]);
  return more;
}

export const Breadcrumbs = ({ steps }: { steps: { label: string; href: string }[] }) => (
  <nav class="breadcrumbs" aria-label="Breadcrumb">
    <ol>
      {steps.map(({ label, href }) => (
        <li key={href}>
          <a href={href}>{label}</a>
        </li>
      ))}
    </ol>
  </nav>
);

/** @returns a sign for the level, for users who cannot see the color of the level */
const signOf = (level: Level): string => (level === 'critical' ? '✕' : '!');

/**
 * Renders the verdict in one line while there is a problem. The duration in the line changes each second, so screen readers do
 * not announce the line. Screen readers announce the state of the connection in the header.
 *
 * @param props `isLinked`: with a link to the pipeline
 */
export function VerdictLine({
  verdict: { level, headline },
  isLinked = true,
}: {
  verdict: Verdict;
  isLinked?: boolean;
}) {
  const age = useAgeOfValues();
  if (level === 'good') return null;
  return (
    <p class="verdict-line" data-level={level}>
      <span aria-hidden="true">{signOf(level)}</span>
      <span class="verdict-text">
        <span>{headline}</span> {age && <span>{age}</span>}
      </span>
      {isLinked && (
        <a class="verdict-link" href="/pipeline">
          See the pipeline
        </a>
      )}
    </p>
  );
}

export function useAgeOfValues(): string {
  const { preferences } = useServices();
  const stale = useStale();
  return stale ? `The values are from ${formatTime(stale.since, preferences.choice.value.zone)}.` : '';
}

/** Renders the verdict for pages without a visible header, such as a full screen. */
export const OwnVerdictLine = () => <VerdictLine verdict={useVerdict()} isLinked={false} />;

export function VerdictLabel({
  verdict: { level, label, lastsMs, headline },
  status,
}: {
  verdict: Verdict;
  status: string;
}) {
  return (
    <p class="connection small" data-status={status} data-level={level} role="status" title={headline}>
      <span class="connection-label">{label}</span>
      {lastsMs !== null && (
        <span class="connection-time" aria-hidden="true">
          {` · ${formatDuration(Math.max(1000, lastsMs))}`}
        </span>
      )}
    </p>
  );
}

const VerdictMark = ({ level }: { level: Level }) =>
  level !== 'good' && (
    <span class="verdict-mark" data-level={level}>
      <span aria-hidden="true">{signOf(level)}</span>
      <span class="visually-hidden"> {level === 'critical' ? 'critical' : 'needs a look'}</span>
    </span>
  );

const PREFIX = '(!) ';

/**
 * Marks title and icon of the page while the verdict is critical, so that a background tab shows the problem. Views may set the
 * title at any time, so each change is marked again.
 */
export function useCriticalMark(isCritical: boolean) {
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', iconOf(isCritical));
    if (!isCritical) return undefined;
    const mark = () => {
      if (!document.title.startsWith(PREFIX)) document.title = PREFIX + document.title;
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(document.head, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      if (document.title.startsWith(PREFIX)) document.title = document.title.slice(PREFIX.length);
    };
  }, [isCritical]);
}
