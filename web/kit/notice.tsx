import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/request.ts';
import { problemText, problemWords } from '../api/request.ts';
import type { ValueNoteProps } from '../feature.ts';
import { NOT_LIVE } from '../state/cells.ts';
import type { Outdated } from '../state/sensor.ts';
import { useStale } from '../state/verdict.ts';
import { Slot } from './slots.tsx';

/** Renders a message instead of content, for an empty list or a problem, with advice. */
export function Notice({
  title,
  isPage = false,
  tone = 'quiet',
  children,
}: {
  title: string;
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

/** Returns whether the header already reports the problem: an outage, after which the page reads again by itself. */
export function useIsOutage(problem: Problem | null): boolean {
  const stale = useStale();
  return stale !== null && problem?.isTemporary === true;
}

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
  const isOutage = useIsOutage(problem);
  if (isOutage && retries)
    return (
      <Notice title="Not read yet">
        <p>The page reads again by itself.</p>
      </Notice>
    );
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

export function ProblemLine({ problem, onRetry }: { problem: Problem; onRetry: () => void }) {
  if (useIsOutage(problem)) return null;
  return (
    <p class="slow problem-line" role="alert">
      <span>{problemText(problem)}</span>
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </p>
  );
}

/** Renders the line about a part of a page that could not be loaded. A reload loses nothing, because the address holds the state. */
export const IncompleteLine = () => (
  <p class="slow problem-line" role="alert">
    <span>A part of this page could not be loaded.</span>
    <button type="button" class="button" onClick={() => location.reload()}>
      Reload
    </button>
  </p>
);

export function SlowLine() {
  if (useStale() !== null) return null;
  return (
    <p class="slow" role="status">
      The answer takes longer than usual. The page still waits for it.
    </p>
  );
}

/** @param props `byBeginning`: names match only from their beginning */
export const NoMatch = ({ href, byBeginning }: { href: string; byBeginning: boolean }) => (
  <Notice title="No sensor matches">
    <p>
      Types, sites and places must match as a whole, names{' '}
      {byBeginning ? 'of sensors from their beginning' : 'of sensors or devices in any part'}.
    </p>
    <p>
      <a class="button" href={href}>
        Show all sensors
      </a>
    </p>
  </Notice>
);

export const EmptyFleet = () => (
  <section class="first-steps" aria-labelledby="first-steps-title">
    <h2 id="first-steps-title">No sensor has sent a value yet</h2>
    <p>The first measurement appears here by itself.</p>
    <Slot name="emptyFleet" />
  </section>
);

export const NoDevice = ({ byBeginning }: { byBeginning: boolean }) => (
  <Notice title="No device matches">
    <p>
      Sites and places must match as a whole, names {byBeginning ? 'from their beginning' : 'in any part'}.
    </p>
    <p>
      <a class="button" href="/?show=devices">
        Show all devices
      </a>
    </p>
  </Notice>
);

export const OutdatedLine = ({
  outdated,
  children,
}: {
  outdated: Outdated;
  children?: ComponentChildren;
}) => (
  <p class="value-note" data-tone={outdated.cellState === NOT_LIVE ? undefined : 'warn'}>
    <i class="swatch" data-cell-state={outdated.cellState} aria-hidden="true" />
    <span>
      <b>{outdated.text}</b>
      {children}
    </span>
  </p>
);

/** Renders the text about the newest value of a sensor that nothing judges. */
export const OutdatedNote = ({ outdated }: ValueNoteProps) =>
  outdated && <OutdatedLine outdated={outdated} />;
