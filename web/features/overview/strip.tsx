import type { TargetedPointerEvent } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Shape } from '../../chart/shape.ts';
import { lengthOf, settle } from '../../chart/window.ts';
import type { OverviewProps } from '../../feature.ts';
import { formatDateClock, formatDuration, hueOf } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import './overview.css';

const WIDTH = 1000;
const HEIGHT = 40;

/**
 * Renders the overview strip: all stored data of a sensor, with the window of the chart marked. Dragging moves the window, and
 * a press moves the window to that place. The strip is hidden from screen readers, because the keyboard does the same in the
 * chart.
 */
export function Overview({ extent, type, window, bounds, onWindow, edges }: OverviewProps) {
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
      <p class="overview-ends small">
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
