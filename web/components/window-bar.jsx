import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { lengthOf, SPANS, settle, zoomStep } from '../chart/window.js';
import {
  formatDateClock,
  formatDateTime,
  formatDuration,
  formatField,
  formatZone,
  hueOf,
  parseField,
} from '../format.js';
import { useServices } from '../state/hooks.js';
import { Choice } from './controls.jsx';
import '../styles/chart.css';

/** @import { Bounds, Window, useWindow } from '../chart/window.js' */
/** @import { Edges } from '../chart/options.js' */
/** @import { Shape } from '../chart/shape.js' */

const OPTIONS = SPANS.map(({ value, label, title }) => ({ value, label, title }));

/**
 * The range of time that is shown, and controls for another one.
 *
 * @param {Pick<ReturnType<typeof useWindow>, 'window' | 'bounds' | 'change' | 'goLive' | 'reset'>} props
 */
export function WindowBar({ window, bounds, change, goLive, reset }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { live, from, to } = window;
  const chosen = live ? SPANS.find(({ ms }) => ms === lengthOf(window)) : undefined;
  const bar = useRef(/** @type {HTMLDivElement | null} */ (null));
  const comesBack = useRef(false);
  const [isOpen, setOpen] = useState(false);
  const form = useId();
  useEffect(() => {
    /** The button that was pressed is gone: one goes on among the ranges. @type {HTMLElement | null | undefined} */
    const next = bar.current?.querySelector('input:checked') ?? bar.current?.querySelector('input');
    if (live && comesBack.current) next?.focus();
    comesBack.current = false;
  }, [live]);
  const goBack = () => {
    comesBack.current = true;
    reset();
  };
  /** @param {-1 | 1} direction */
  const step = (direction) => change(zoomStep(window, direction, null, bounds), true);
  return (
    <>
      <div class="panel-head window-bar" ref={bar}>
        <Choice
          legend="Range"
          options={OPTIONS}
          value={chosen?.value ?? ''}
          onChange={(/** @type {string} */ value) =>
            goLive(SPANS.find((span) => span.value === value)?.ms ?? lengthOf(window))
          }
        />
        <div class="window-zoom" role="group" aria-label="Zoom">
          <button
            type="button"
            class="button"
            aria-label="Zoom out"
            title="Zoom out (−)"
            onClick={() => step(1)}
          >
            −
          </button>
          <button
            type="button"
            class="button"
            aria-label="Zoom in"
            title="Zoom in (+)"
            onClick={() => step(-1)}
          >
            +
          </button>
        </div>
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
                <time>{formatDateTime(from, zone)}</time> to <time>{formatDateTime(to, zone)}</time>{' '}
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
          onChange={(/** @type {Window} */ next) => change(next, true)}
        />
      )}
    </>
  );
}

/**
 * Two fields for the range: from and to, in the chosen zone.
 *
 * @param {object} props
 * @param {string} props.id of the form, which its button names
 * @param {Window} props.window when the form was opened
 * @param {Bounds} props.bounds
 * @param {(next: Window) => void} props.onChange
 */
function RangeForm({ id, window, bounds, onChange }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [typed, setTyped] = useState({
    from: formatField(window.from, zone),
    to: formatField(window.to, zone),
  });
  const [wrong, setWrong] = useState('');
  const problem = useId();

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const range = readRange(typed, zone);
    setWrong(typeof range === 'string' ? range : '');
    if (typeof range !== 'string') onChange(settle(range, bounds));
  }

  /** @param {'from' | 'to'} name @param {string} label */
  const field = (name, label) => (
    <label>
      <span>{label}</span>
      <input
        type="datetime-local"
        step="1"
        required
        value={typed[name]}
        aria-invalid={wrong !== ''}
        aria-describedby={wrong ? problem : undefined}
        onInput={(/** @type {any} */ event) => setTyped({ ...typed, [name]: event.target.value })}
      />
    </label>
  );

  return (
    <form id={id} class="range-form" aria-label="Range" onSubmit={submit}>
      {field('from', 'From')}
      {field('to', 'To')}
      <span class="range-form-zone">{formatZone(zone, window.to)}</span>
      <button type="submit" class="button">
        Show
      </button>
      {wrong && (
        <p id={problem} class="range-form-wrong" role="alert">
          {wrong}
        </p>
      )}
    </form>
  );
}

/**
 * @param {{ from: string, to: string }} typed
 * @param {'local' | 'utc'} zone
 * @returns {{ from: number, to: number } | string} what is wrong with it
 */
function readRange(typed, zone) {
  const [from, to] = [parseField(typed.from, zone), parseField(typed.to, zone)];
  if (from === null || to === null) return 'Fill in a date and a time in both fields.';
  return from < to ? { from, to } : 'From has to be before to.';
}

const WIDTH = 1000;
const HEIGHT = 40;

/**
 * All that is kept of a sensor in one strip, and in it the window that the chart shows: to be dragged, or put elsewhere by a press.
 * The chart does the same by keyboard, so it is hidden from screen readers.
 *
 * @param {object} props
 * @param {Shape} props.extent
 * @param {string | null} props.type
 * @param {Window} props.window
 * @param {Bounds} props.bounds
 * @param {(next: Window, isSettled: boolean) => void} props.onWindow
 * @param {Edges | null} props.edges space of the chart on both sides of its plot, which the strip keeps, too
 */
export function Overview({ extent, type, window, bounds, onWindow, edges }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const held = useRef(/** @type {number | null} */ (null));
  const latest = useRef(window);
  const from = extent.from;
  const to = Math.max(bounds.now, extent.from + 1);
  const band = useMemo(() => bandOf(extent, from, to), [extent, Math.round(to / 60_000)]);
  /** @param {number} ts */
  const share = (ts) => Math.min(Math.max((ts - from) / (to - from), 0), 1);
  /** @param {any} event */
  const timeAt = ({ clientX, currentTarget }) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return from + ((clientX - left) / width) * (to - from);
  };

  /** @param {any} event */
  function down(event) {
    event.currentTarget.setPointerCapture(event.pointerId);
    const ts = timeAt(event);
    const isOnWindow = ts >= window.from && ts <= window.to;
    held.current = isOnWindow ? ts - window.from : lengthOf(window) / 2;
    if (!isOnWindow) move(event);
    else latest.current = window;
  }
  /** @param {any} event */
  function move(event) {
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

/** @param {Shape} extent @param {number} from @param {number} to @returns {string} from lowest to highest of each bin */
function bandOf({ ts, min, max, stepMs }, from, to) {
  const [lowest, highest] = [Math.min(...min), Math.max(...max)];
  const x = (/** @type {number} */ at) => ((at - from) / (to - from)) * WIDTH;
  const y = (/** @type {number} */ value) =>
    HEIGHT - 3 - (highest > lowest ? (value - lowest) / (highest - lowest) : 0.5) * (HEIGHT - 6);
  return ts
    .map((at, index) => {
      const [left, right] = [x(at).toFixed(1), Math.max(x(at + (stepMs ?? 0)), x(at) + 1).toFixed(1)];
      const [top, bottom] = [(y(max[index] ?? 0) - 1).toFixed(1), (y(min[index] ?? 0) + 1).toFixed(1)];
      return `M${left} ${top}H${right}V${bottom}H${left}Z`;
    })
    .join('');
}
