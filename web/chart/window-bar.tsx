import type { TargetedPointerEvent } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Zone, ZoneName } from '../format.ts';
import {
  createZone,
  formatDateClock,
  formatDateTime,
  formatDuration,
  formatField,
  formatZone,
  hueOf,
  isNamedZone,
  LOCAL,
  parseField,
} from '../format.ts';
import { Choice } from '../kit/controls.tsx';
import { OtherZone } from '../kit/figure.tsx';
import { useServices } from '../state/hooks.ts';
import { lengthOf, parseAgo, SPANS, settle, typedWindow, zoomStep } from './window.ts';
import './chart.css';
import type { Edges } from './options.ts';
import type { Shape } from './shape.ts';
import type { Bounds, useWindow, Window } from './window.ts';

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
        <button
          type="button"
          class="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? form : undefined}
          onClick={() => setOpen(!isOpen)}
        >
          Dates…
        </button>
        <p class="panel-note window-note">
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
      {isOpen && (
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

function RangeForm({
  id,
  window,
  bounds,
  onChange,
  onLive,
}: {
  id: string;
  window: Window;
  bounds: Bounds;
  onChange: (next: Window) => void;
  /** @param ms length of the live window */
  onLive: (ms: number) => void;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [opened] = useState({
    from: formatField(window.from, zone),
    to: formatField(window.to, zone),
    live: window.live,
  });
  const [typed, setTyped] = useState({ from: opened.from, to: opened.to });
  const [wrong, setWrong] = useState('');
  const problem = useId();

  function submit(event: Event) {
    event.preventDefault();
    // If the user did not change the end of a live range, the range stays live.
    const endsNow = opened.live && typed.to === opened.to;
    const range = readRange(typed, zone, bounds.now);
    setWrong(typeof range === 'string' ? range : '');
    if (typeof range === 'string') return;
    onChange(typedWindow(endsNow ? { ...range, to: bounds.now } : range, bounds.now));
  }

  const field = (name: 'from' | 'to', label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="datetime-local"
        step="1"
        required
        value={typed[name]}
        aria-invalid={wrong !== ''}
        aria-describedby={wrong ? problem : undefined}
        onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      />
    </label>
  );

  return (
    <div id={id}>
      <form class="range-form" aria-label="Range" onSubmit={submit}>
        {field('from', 'From')}
        {field('to', 'To')}
        <ZoneChoice at={window.to} />
        <button type="submit" class="button">
          Show
        </button>
        {wrong && (
          <p id={problem} class="range-form-wrong" role="alert">
            {wrong}
          </p>
        )}
      </form>
      <RelativeForm
        now={bounds.now}
        onLive={onLive}
        onChange={(range) => onChange(typedWindow(range, bounds.now))}
      />
    </div>
  );
}

/** Renders the choice among all time zones that the browser knows. Local and UTC come first. */
function ZoneChoice({ at }: { at: number }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const id = useId();
  // This browser may list the zone under another name than the browser in which the user chose the zone.
  const names = useMemo(
    () => [...new Set([...Intl.supportedValuesOf('timeZone'), zone.name])].filter(isNamedZone).sort(),
    [zone],
  );
  return (
    <span class="range-form-label">
      <label for={id}>Time zone</label>
      <select
        id={id}
        class="range-form-zone"
        value={zone.name}
        onChange={(event) => preferences.change({ zone: createZone(event.currentTarget.value as ZoneName) })}
      >
        <option value="local">Local ({formatZone(LOCAL, at)})</option>
        <option value="utc">UTC</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </span>
  );
}

/** Renders two fields for times relative to now, written as in an address. A range that ends now is live. */
function RelativeForm({
  now,
  onLive,
  onChange,
}: {
  now: number;
  onLive: (ms: number) => void;
  onChange: (range: { from: number; to: number }) => void;
}) {
  const [typed, setTyped] = useState({ from: '-1h', to: 'now' });
  const [wrong, setWrong] = useState(false);
  const problem = useId();

  function submit(event: Event) {
    event.preventDefault();
    const [from, to] = [parseAgo(typed.from.trim()), parseAgo(typed.to.trim())];
    const isWrong = from === null || to === null || from <= to;
    setWrong(isWrong);
    if (isWrong) return;
    if (to === 0) onLive(from);
    else onChange({ from: now - from, to: now - to });
  }

  const field = (name: 'from' | 'to', label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="text"
        class="range-form-ago"
        autocomplete="off"
        spellcheck={false}
        value={typed[name]}
        aria-invalid={wrong}
        aria-describedby={wrong ? problem : undefined}
        onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      />
    </label>
  );

  return (
    <form class="range-form" aria-label="Before now" onSubmit={submit}>
      <span class="range-form-label">Before now</span>
      {field('from', 'Start')}
      {field('to', 'End')}
      <button type="submit" class="button">
        Show
      </button>
      {wrong && (
        <p id={problem} class="range-form-wrong" role="alert">
          Write times such as -90s, -15m, -1h, -7d or now. The start has to be before the end.
        </p>
      )}
    </form>
  );
}

/** Reads the typed range. @returns the range, or the reason why the range is invalid */
function readRange(
  typed: { from: string; to: string },
  zone: Zone,
  now: number,
): { from: number; to: number } | string {
  const [from, to] = [parseField(typed.from, zone), parseField(typed.to, zone)];
  if (from === null || to === null) return 'Fill in a date and a time in both fields.';
  if (from >= to) return 'From has to be before to.';
  return from < now ? { from, to } : 'From has to be before now.';
}

const WIDTH = 1000;
const HEIGHT = 40;

/**
 * Renders the overview strip: all stored data of a sensor, with the window of the chart marked. Dragging moves the window, and
 * a press moves the window to that place. The strip is hidden from screen readers, because the keyboard does the same in the
 * chart.
 */
export function Overview({
  extent,
  type,
  window,
  bounds,
  onWindow,
  edges,
}: {
  extent: Shape;
  type: string | null;
  window: Window;
  bounds: Bounds;
  onWindow: (next: Window, isSettled: boolean) => void;
  /** space left and right of the plot of the chart; the strip has equal margins, so that both align */
  edges: Edges | null;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const held = useRef<number | null>(null);
  const latest = useRef(window);
  const from = extent.from;
  const to = Math.max(bounds.now, extent.from + 1);
  const band = useMemo(() => bandOf(extent, from, to), [extent, Math.round(to / 60_000)]);
  const share = (ts: number) => Math.min(Math.max((ts - from) / (to - from), 0), 1);
  const timeAt = ({ clientX, currentTarget }: TargetedPointerEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return from + ((clientX - left) / width) * (to - from);
  };

  function down(event: TargetedPointerEvent<HTMLElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    const ts = timeAt(event);
    const isOnWindow = ts >= window.from && ts <= window.to;
    held.current = isOnWindow ? ts - window.from : lengthOf(window) / 2;
    if (!isOnWindow) move(event);
    else latest.current = window;
  }
  function move(event: TargetedPointerEvent<HTMLElement>) {
    if (held.current === null) return;
    const start = timeAt(event) - held.current;
    latest.current = settle({ from: start, to: start + lengthOf(window) }, bounds);
    onWindow(latest.current, false);
  }
  function up() {
    if (held.current !== null) onWindow(latest.current, true);
    held.current = null;
  }

  return (
    <div
      class={`overview hue-${hueOf(type)}`}
      aria-hidden="true"
      style={edges ? { paddingLeft: `${edges.left}px`, paddingRight: `${edges.right}px` } : {}}
    >
      <div
        class="overview-strip"
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={up}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path d={band} />
        </svg>
        <div
          class="overview-window"
          style={{
            left: `${100 * share(window.from)}%`,
            width: `${100 * (share(window.to) - share(window.from))}%`,
          }}
        />
      </div>
      <p class="overview-ends">
        <span>{formatDateClock(from, zone)}</span>
        <span>all that is kept: {formatDuration(to - from)}</span>
        <span>now</span>
      </p>
    </div>
  );
}

/** @returns SVG path of the band from minimum to maximum of each bin */
function bandOf({ ts, min, max, stepMs }: Shape, from: number, to: number): string {
  const [lowest, highest] = [Math.min(...min), Math.max(...max)];
  const x = (at: number) => ((at - from) / (to - from)) * WIDTH;
  const y = (value: number) =>
    HEIGHT - 3 - (highest > lowest ? (value - lowest) / (highest - lowest) : 0.5) * (HEIGHT - 6);
  return ts
    .map((at, index) => {
      const [left, right] = [x(at).toFixed(1), Math.max(x(at + (stepMs ?? 0)), x(at) + 1).toFixed(1)];
      const [top, bottom] = [(y(max[index] ?? 0) - 1).toFixed(1), (y(min[index] ?? 0) + 1).toFixed(1)];
      return `M${left} ${top}H${right}V${bottom}H${left}Z`;
    })
    .join('');
}
