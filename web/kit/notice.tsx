import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/request.ts';
import { problemText, problemWords } from '../api/request.ts';
import { formatTime } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import type { Stale } from '../state/verdict.ts';

/** Renders a message instead of content, for an empty list or a problem, with advice. */
export function Notice({
  title,
  isPage = false,
  tone = 'quiet',
  children,
}: {
  title: string;
  /** whether the notice is the only content of the page */
  isPage?: boolean;
  tone?: 'quiet' | 'warn' | 'good';
  children?: ComponentChildren;
}) {
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <section class="notice" data-tone={tone} role={tone === 'warn' ? 'alert' : undefined}>
      <Heading>{title}</Heading>
      {children}
    </section>
  );
}

/** Renders a problem instead of content: its reason, advice, and a link to the fleet. */
export function ProblemNotice({
  problem,
  onRetry,
  retries = true,
}: {
  problem: Problem;
  onRetry: () => void;
  /** whether the caller retries temporary problems automatically, as `useQuery` does */
  retries?: boolean;
}) {
  const { title, advice } = problemWords(problem);
  return (
    <Notice title={title} tone="warn">
      {advice && <p>{advice}</p>}
      {retries && problem.isTemporary && <p>The page tries again every few seconds.</p>}
      <p class="notice-actions">
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
        <a class="button" href="/">
          To the fleet
        </a>
      </p>
    </Notice>
  );
}

/** Renders a problem in one line above the last known content. */
export const ProblemLine = ({ problem, onRetry }: { problem: Problem; onRetry: () => void }) => (
  <p class="slow problem-line" role="alert">
    <span>{problemText(problem)}</span>
    <button type="button" class="button" onClick={onRetry}>
      Try again
    </button>
  </p>
);

/** Renders a notice that an answer is slow. */
export const SlowLine = () => (
  <p class="slow" role="status">
    The answer takes longer than usual. The page still waits for it.
  </p>
);

/**
 * Renders the note that no sensor matches the filters.
 *
 * @param props `href`: link to the unfiltered list; `byBeginning`: names match only from their beginning
 */
export const NoMatch = ({ href, byBeginning }: { href: string; byBeginning: boolean }) => (
  <Notice title="No sensor matches">
    <p>
      Types and sites must match as a whole, names{' '}
      {byBeginning ? 'of sensors from their beginning' : 'of sensors or devices in any part'}.
    </p>
    <p>
      <a class="button" href={href}>
        Show all sensors
      </a>
    </p>
  </Notice>
);

export const NoDevice = ({ byBeginning }: { byBeginning: boolean }) => (
  <Notice title="No device matches">
    <p>Sites must match as a whole, names {byBeginning ? 'from their beginning' : 'in any part'}.</p>
    <p>
      <a class="button" href="/?show=devices">
        Show all devices
      </a>
    </p>
  </Notice>
);

/** Renders a warning while the values are old. */
export function OfflineBanner({ stale }: { stale: Stale | null }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  if (stale === null) return null;
  const reason = stale.isLost ? 'The connection is lost' : 'Nothing is stored';
  return (
    <p class="slow">
      {reason}. The values are from {formatTime(stale.since, zone)}.
    </p>
  );
}
