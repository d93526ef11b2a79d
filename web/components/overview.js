import { html } from 'htm/preact';
import { useMemo, useRef } from 'preact/hooks';
import { lengthOf, settle } from '../chart/window.js';
import { formatDateClock, formatDuration, hueOf } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Bounds, Window } from '../chart/window.js' */

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
 */
export function Overview({ extent, type, window, bounds, onWindow }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
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

  return html`
    <div class="overview hue-${hueOf(type)}" aria-hidden="true">
      <div class="overview-strip" onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${up}>
        <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none"><path d=${band} /></svg>
        <div class="overview-window" style=${{ left: `${100 * share(window.from)}%`, width: `${100 * (share(window.to) - share(window.from))}%` }}></div>
      </div>
      <p class="overview-ends"><span>${formatDateClock(from, zone)}</span><span>all that is kept: ${formatDuration(to - from)}</span><span>now</span></p>
    </div>
  `;
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
