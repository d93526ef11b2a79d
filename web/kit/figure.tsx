import { useEffect, useRef } from 'preact/hooks';
import { formatAge, formatDateTime, hueOf, NOTHING, otherZone } from '../format.ts';
import { oldAfterMs } from '../state/cells.ts';
import { useServices } from '../state/hooks.ts';
import { stateText } from '../states.ts';
import { writeValue } from '../units.ts';

const WIDTH = 100;
const HEIGHT = 24;
const MARGIN = 2;
/** Distance in ms up to which two points are never a gap, because devices send samples in batches. */
const LEAST_HOLE_MS = 15_000;

/** Renders a small line chart without axes. The chart repeats the number next to it, so the chart is hidden from screen readers. */
export function Sparkline({
  points,
  second = [],
  floor,
  span,
  hole = LEAST_HOLE_MS,
}: {
  /** points of the line, oldest first; x in ms */
  points: { x: number; y: number }[];
  /** the points of a second line on the same scale, which is drawn fainter */
  second?: { x: number; y: number }[];
  /** value that the scale always includes; for rates, the value is 0 */
  floor?: number;
  /** length of the x axis in ms, newest at the right; default: length of the points */
  span?: number;
  /** distance in ms up to which two points are always connected */
  hole?: number;
}) {
  const scale = scaleOf([...points, ...second], floor, span);
  const runs = pathsOf(points, hole, scale);
  const line = lineAlong(runs);
  const secondLine = lineAlong(pathsOf(second, hole, scale));
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {floor !== undefined && line && <path class="sparkline-area" d={areaUnder(runs)} />}
      {secondLine && <path class="sparkline-second" d={secondLine} />}
      {line && <path class="sparkline-line" d={line} />}
    </svg>
  );
}

type PixelScale = { x: (x: number) => number; y: (y: number) => number };

function scaleOf(points: { x: number; y: number }[], floor?: number, span?: number): PixelScale {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const right = Math.max(...xs);
  const width = span ?? (right - Math.min(...xs) || 1);
  const bottom = Math.min(...ys, floor ?? Number.POSITIVE_INFINITY);
  const height = Math.max(...ys) - bottom;
  return {
    x: (x) => WIDTH - ((right - x) / width) * WIDTH,
    // A constant line lies on the floor if the scale has a floor, otherwise in the middle.
    y: (y) => {
      const share = height > 0 ? (y - bottom) / height : floor === undefined ? 0.5 : 0;
      return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN);
    },
  };
}

/** Connected points as an SVG path; `first` and `last`: x of the first and last point */
type RunPath = { path: string; first: string; last: string; isPoint: boolean };

/** @returns a path for each run; none for fewer than three points, because the slope between two points has no meaning */
function pathsOf(points: Point[], hole: number, scale: PixelScale): RunPath[] {
  if (points.length < 3) return [];
  const xOf = (point?: Point) => scale.x(point?.x ?? 0).toFixed(1);
  return runsOf(points, hole).map((run) => ({
    path: `M${run.map(({ x, y }) => `${scale.x(x).toFixed(1)} ${scale.y(y).toFixed(1)}`).join('L')}`,
    first: xOf(run[0]),
    last: xOf(run.at(-1)),
    isPoint: run.length === 1,
  }));
}

const lineAlong = (runs: RunPath[]): string =>
  runs.map(({ path, isPoint }) => `${path}${isPoint ? 'h0.5' : ''}`).join('');

const areaUnder = (runs: RunPath[]): string =>
  runs.map(({ path, first, last }) => `${path}L${last} ${HEIGHT}L${first} ${HEIGHT}Z`).join('');

type Point = { x: number; y: number };

/** Number of steps before a point, and after it, whose median is the usual distance between points. */
const AROUND = 4;
/** Number of usual steps. A longer distance between two points is a gap. */
const GAP_STEPS = 4;

/** Splits points into runs, so that no line crosses a gap. @param points sorted by x @param least distances up to this are no gap */
export function runsOf(points: Point[], least: number): Point[][] {
  const steps = points.slice(1).map(({ x }, i) => x - (points[i]?.x ?? 0));
  const runs: Point[][] = [];
  let first = 0;
  for (const [i, step] of steps.entries()) {
    if (step <= least || step <= GAP_STEPS * typicalStep(steps, i)) continue;
    runs.push(points.slice(first, i + 1));
    first = i + 1;
  }
  return [...runs, points.slice(first)];
}

/** Returns the larger of the median steps before and after, because the steps of a sensor that becomes slower are no gaps. */
export const typicalStep = (steps: number[], i: number) =>
  Math.max(middleOf(steps.slice(Math.max(0, i - AROUND), i)), middleOf(steps.slice(i + 1, i + 1 + AROUND)));

const middleOf = (steps: number[]): number =>
  steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;

const FLASH_MS = 600;
const LONG_NUMBER = 9;

/** Renders the newest value of a sensor with its unit. The text flashes at each change. A state is shown by its name. */
export function Value({
  value,
  unit,
  ts,
  name = null,
  type = null,
  recent,
  decimals,
}: {
  value: number | null;
  unit: string | null;
  ts: string | null;
  name?: string | null;
  type?: string | null;
  /** earlier values, which determine the unit prefix and the number of decimals */
  recent: { value: number }[];
  /** minimum number of decimals, so that values of a column align */
  decimals?: number;
}) {
  const { preferences } = useServices();
  const { units: choices } = preferences.choice.value;
  const number = useRef<HTMLElement | null>(null);
  useFlash(number, ts);
  const state = stateText({ name, type, unit }, value);
  const values = recent.map((sample) => sample.value);
  const written =
    state === null
      ? writeValue(value, unit, { choices, recent: values, decimals })
      : { number: state, unit: '' };
  return (
    <span class="value" data-none={value === null}>
      <span class="value-number" ref={number} data-long={written.number.length > LONG_NUMBER}>
        {written.number}
      </span>
      <span class="value-unit small">{written.unit}</span>
    </span>
  );
}

/** Flashes an element after a change. Only the color changes, not the opacity, so that the newest value is never dimmed. */
function useFlash(element: { current: HTMLElement | null }, ts: string | null) {
  const last = useRef(ts);
  useEffect(() => {
    if (last.current === ts) return;
    last.current = ts;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    element.current?.animate([{ color: 'var(--accent)', offset: 0 }], {
      duration: FLASH_MS,
      easing: 'ease-out',
    });
  }, [element, ts]);
}

/** An old age is a warning only if a newer sample is expected: by default of sensors with an interval. @param props `isAgo`: "12 s ago" */
export function Age({
  ts,
  intervalMs = null,
  isExpected = Boolean(intervalMs),
  isAgo = false,
}: {
  ts: string | null;
  intervalMs?: number | null;
  isExpected?: boolean;
  isAgo?: boolean;
}) {
  const { clock, preferences } = useServices();
  const now = clock.time.value;
  const { zone } = preferences.choice.value;
  if (ts === null) return <span class="age">{NOTHING}</span>;
  const at = Date.parse(ts);
  const age = now - at;
  const isOld = age > oldAfterMs(intervalMs ?? 0);
  return (
    <time
      class="age"
      datetime={ts}
      title={formatDateTime(at, zone)}
      data-stale={isOld}
      data-expected={isExpected}
    >
      {formatAge(age)}
      {isAgo && age >= 1000 && ' ago'}
    </time>
  );
}

/** Renders the UTC offset of a time if the column head names another one, because a clock change lies between. @param props epoch ms */
export function OtherZone({ ts, head = Date.now() }: { ts: number; head?: number }) {
  const { preferences } = useServices();
  const zone = otherZone(preferences.choice.value.zone, ts, head);
  return zone && <span class="other-zone"> {zone}</span>;
}

export const TypeDot = ({ type }: { type: string | null }) => (
  <span class={`type-dot hue-${hueOf(type)}`} aria-hidden="true" />
);
