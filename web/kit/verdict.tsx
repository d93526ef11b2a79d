import { useEffect } from 'preact/hooks';
import { formatTime } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import type { Level, Verdict } from '../state/verdict.ts';
import { lasting, plainVerdictOf, useStale, useVerdictBy } from '../state/verdict.ts';
import { iconOf } from './mark.ts';
import { useDiagnosis } from './slots.tsx';
import './header.css';

export const useVerdict = (): Verdict => useVerdictBy(useDiagnosis()?.verdictOf ?? plainVerdictOf);

const WORDS = {
  live: { label: 'Live', title: 'Values change as they are committed' },
  connecting: { label: 'Connecting', title: 'Waiting for the first event from the server' },
  reconnecting: {
    label: 'Reconnecting',
    title: 'The connection is lost, and the values may be old. The page reconnects by itself',
  },
  paused: { label: 'Paused', title: 'Values are not updated while nobody sees the page' },
};

export function Connection({ verdict }: { verdict: Verdict }) {
  const { live } = useServices();
  const status = live.status.value;
  const { level, lastsMs } = verdict;
  const { label, title } =
    level === 'good' ? WORDS[status] : { label: verdict.label, title: verdict.headline };
  return (
    <p class="connection small" data-status={status} data-level={level} role="status" title={title}>
      <span class="connection-label">{label}</span>
      {lastsMs !== null && (
        <span class="connection-time" aria-hidden="true">
          {` · ${lasting(lastsMs)}`}
        </span>
      )}
    </p>
  );
}

export const signOf = (level: Level): string => (level === 'critical' ? '✕' : '!');

/** Its duration changes each second, so screen readers do not announce it. They announce the connection in the header. */
export function VerdictLine({
  verdict: { level, headline },
  isLinked = true,
}: {
  verdict: Verdict;
  isLinked?: boolean;
}) {
  const age = useAgeOfValues();
  const diagnosis = useDiagnosis();
  if (level === 'good') return null;
  return (
    <p class="verdict-line" data-level={level}>
      <span aria-hidden="true">{signOf(level)}</span>
      <span class="verdict-text">
        <span>{headline}</span> {age && <span>{age}</span>}
      </span>
      {isLinked && diagnosis && (
        <a class="verdict-link" href={`/${diagnosis.name}`}>
          {diagnosis.link}
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

const PREFIX = '(!) ';

/** Marks title and icon, so that a background tab shows the problem. Views may set the title at any time, so each change is marked again. */
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
