import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { formatDateTime, formatDuration, formatZone } from '../format.ts';
import { Choice } from '../kit/controls.tsx';
import { OtherZone } from '../kit/figure.tsx';
import { useRangeForm } from '../kit/slots.tsx';
import { useServices } from '../state/hooks.ts';
import { lengthOf, SPANS, zoomStep } from './window.ts';
import './chart.css';
import type { useWindow, Window } from './window.ts';

const OPTIONS = SPANS.map(({ value, label, title }) => ({ value, label, title }));

export function WindowBar({
  window,
  bounds,
  change,
  goLive,
  reset,
}: Pick<ReturnType<typeof useWindow>, 'window' | 'bounds' | 'change' | 'goLive' | 'reset'>) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { live, from, to } = window;
  const chosen = live ? SPANS.find(({ ms }) => ms === lengthOf(window)) : undefined;
  const bar = useRef<HTMLDivElement | null>(null);
  const comesBack = useRef(false);
  const [isOpen, setOpen] = useState(false);
  const form = useId();
  const RangeForm = useRangeForm();
  useEffect(() => {
    /** The pressed button is removed, so the focus moves to the ranges. */
    const next: HTMLElement | null | undefined =
      bar.current?.querySelector('input:checked') ?? bar.current?.querySelector('input');
    if (live && comesBack.current) next?.focus();
    comesBack.current = false;
  }, [live]);
  const goBack = () => {
    comesBack.current = true;
    reset();
  };
  return (
    <>
      <div class="panel-head window-bar" ref={bar}>
        <Choice
          legend="Range"
          options={OPTIONS}
          value={chosen?.value ?? ''}
          onChange={(value: string) =>
            goLive(SPANS.find((span) => span.value === value)?.ms ?? lengthOf(window))
          }
        />
        <ZoomButtons onStep={(direction) => change(zoomStep(window, direction, null, bounds), true)} />
        {RangeForm && (
          <button
            type="button"
            class="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? form : undefined}
            onClick={() => setOpen(!isOpen)}
          >
            Dates…
          </button>
        )}
        <p class="panel-note window-note small">
          {live ? (
            <>
              {!chosen && <span>The last {formatDuration(lengthOf(window))}</span>}
              <span class="window-hint">
                Drag to zoom in · Shift + drag to pan · Ctrl + wheel to zoom · keys + − ← → 0
              </span>
            </>
          ) : (
            <>
              <span>
                <time>{formatDateTime(from, zone)}</time>
                <OtherZone ts={from} head={to} /> to <time>{formatDateTime(to, zone)}</time>{' '}
                {formatZone(zone, to)}, {formatDuration(lengthOf(window))}
              </span>
              <button type="button" class="button" onClick={goBack}>
                Back to now
              </button>
            </>
          )}
        </p>
      </div>
      {RangeForm && isOpen && (
        <RangeForm
          key={zone}
          id={form}
          window={window}
          bounds={bounds}
          onChange={(next: Window) => (next.live ? goLive(lengthOf(next)) : change(next, true))}
          onLive={goLive}
        />
      )}
    </>
  );
}

const ZoomButtons = ({ onStep }: { onStep: (direction: -1 | 1) => void }) => (
  <div class="window-zoom" role="group" aria-label="Zoom">
    <button type="button" class="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => onStep(1)}>
      −
    </button>
    <button type="button" class="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => onStep(-1)}>
      +
    </button>
  </div>
);
