import type { ComponentChildren } from 'preact';
import { useCallback, useId, useMemo, useRef, useState } from 'preact/hooks';
import type UPlot from 'uplot';
import type { Plugin } from 'uplot';
import { formatStep, formatUnit, hueOf } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import type { StateBand, StateNames } from '../states.ts';
import { stretchesOf } from '../states.ts';
import type { Edges } from './options.ts';
import { chartFont, chartOptions } from './options.ts';
import { entryNear, entryUnder, shapeIndexOf, useTimePlot } from './plot.ts';
import type { PointWords } from './readout.ts';
import { inOneLine, noSampleWords, pointWords } from './readout.ts';
import type { Shape } from './shape.ts';
import { drawn } from './shape.ts';
import type { Bounds, Window } from './window.ts';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import type uPlot from 'uplot';

const HINT =
  'Drag to zoom in, Shift and drag to pan, Ctrl and wheel to zoom; on a touch screen pinch and swipe. Keys: plus and minus zoom, arrows walk along the line, with Shift they pan, 0 goes back.';

const NO_PLUGINS: Plugin[] = [];

export function SignalChart({
  label,
  type,
  unit,
  shape,
  states = null,
  loading,
  plugins: added = NO_PLUGINS,
  title,
  children,
  ...chart
}: {
  label: string;
  type: string | null;
  unit: string | null;
  intervalMs: number | null;
  shape: Shape;
  states?: StateNames | null;
  loading: boolean;
  window: Window;
  bounds: Bounds;
  onWindow: (next: Window, isSettled: boolean) => void;
  onReset: () => void;
  onPlot?: (edges: Edges) => void;
  plugins?: Plugin[];
  title?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [cursor, setCursor] = useState<{ place: number | null; ts: number | null }>({
    place: null,
    ts: null,
  });
  const onPlace = useCallback((place: number | null, ts: number | null) => {
    // The time is needed only if there is no point under the cursor.
    const next = place === null ? { place, ts } : { place, ts: null };
    setCursor((now) => (now.place === next.place && now.ts === next.ts ? now : next));
  }, []);
  const hint = useId();
  const statePlugins = useStatePlugins(shape, states, chart.intervalMs);
  const plugins = useMemo(() => [...statePlugins, ...added], [statePlugins, added]);
  const inWords = (at: number) => pointWords(shape, at, unit, zone, states);
  return (
    <figure
      class={`chart-frame hue-${hueOf(type)}`}
      aria-busy={loading}
      data-kind={shape.stepMs === null ? 'samples' : 'bins'}
      data-states={states !== null}
    >
      <figcaption>
        <span class="chart-what">
          {title}
          <SourceNote shape={shape} unit={unit} states={states} />
        </span>
        <Readout
          words={
            cursor.place !== null
              ? inWords(cursor.place)
              : cursor.ts !== null && shape.ts.length > 0
                ? noSampleWords(cursor.ts, zone)
                : null
          }
        />
      </figcaption>
      <TimeChart
        key={hueOf(type)}
        label={label}
        shape={shape}
        onPlace={onPlace}
        inWords={(at: number) => inOneLine(inWords(at))}
        describedBy={hint}
        plugins={plugins}
        {...chart}
      />
      <p id={hint} class="visually-hidden">
        {HINT}
      </p>
      {loading && <div class="chart-loading" aria-hidden="true" />}
      {children && <div class="chart-over">{children}</div>}
    </figure>
  );
}

/** Returns plugins that draw bands of states instead of a line. The array stays the same while the signal has states. */
export function useStatePlugins(shape: Shape, states: StateNames | null, intervalMs: number | null) {
  const hasStates = states !== null;
  const current = useMemo(() => ({ shape, states, intervalMs }), [hasStates]);
  Object.assign(current, { shape, states, intervalMs });
  return useMemo(() => (hasStates ? [statePlugin(() => current)] : []), [hasStates, current]);
}

function SourceNote({
  shape,
  unit,
  states,
}: {
  shape: Shape;
  unit: string | null;
  states: StateNames | null;
}) {
  const written = formatUnit(unit);
  const step = formatStep(shape.stepMs ?? 0);
  const source =
    shape.stepMs === null
      ? 'each sample'
      : states
        ? `states of every ${step}`
        : `average, lowest and highest of every ${step}`;
  if (shape.ts.length === 0) return <span>{written}</span>;
  return (
    <span>
      {written}
      {written && ' · '}
      {source}
    </span>
  );
}

const Readout = ({ words }: { words: PointWords | null }) =>
  words && (
    <p class="readout">
      <span>{words.when}</span> <strong>{words.value}</strong> {words.band && <span>{words.band}</span>}
    </p>
  );

interface StateSignal {
  shape: Shape;
  states: StateNames | null;
  intervalMs: number | null;
}

const LEAST_WIDTH = 2;
/** Height of the band as a share of the plot. The band lies in the middle. */
const BAND = 0.6;
/** Opacity of the bands of the lowest and of the highest state. */
const STRENGTH = { low: 0.22, high: 0.9 };
const PADDING = 6;

/** Draws a signal with states as bands instead of a line. */
const statePlugin = (current: () => StateSignal): Plugin => ({
  opts(_chart, options) {
    const [times = {}, values = {}] = options.axes ?? [];
    return {
      ...options,
      cursor: { ...options.cursor, points: { show: false } },
      scales: { ...options.scales, y: { range: () => [0, 1] } },
      series: options.series.map((series) => ({
        ...series,
        stroke: 'transparent',
        fill: 'transparent',
        points: { show: false },
      })),
      bands: [],
      axes: [times, { ...values, grid: { show: false }, values: (_self, ticks) => ticks.map(() => '') }],
    };
  },
  hooks: { draw: (chart) => paintStates(chart, current()) },
});

function paintStates(chart: UPlot, { shape, states, intervalMs }: StateSignal) {
  if (!states) return;
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const color = (name: string) => getComputedStyle(chart.root).getPropertyValue(name);
  const highest = shape.max.reduce((most, value) => Math.max(most, value), 1);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = chartFont(color, ratio);
  ctx.textBaseline = 'middle';
  // uPlot leaves the alignment of the axis labels in the canvas.
  ctx.textAlign = 'left';
  // The shortest bands are drawn last, so that a longer neighbor does not cover a short band.
  const stretches = stretchesOf(shape, drawn(shape, intervalMs)).sort(
    (a, b) => b.to - b.from - (a.to - a.from),
  );
  for (const stretch of stretches) {
    paintStretch(chart, stretch, { states, highest, ratio, line: color('--line'), ink: color('--ink') });
  }
  ctx.restore();
}

/** Paints the band of a state. In a bin with two states, the higher state fills its share of the height from below. */
function paintStretch(
  chart: UPlot,
  { from, to, value, highest: top, share }: StateBand,
  {
    states,
    highest,
    ratio,
    line,
    ink,
  }: { states: StateNames; highest: number; ratio: number; line: string; ink: string },
) {
  const { ctx, bbox } = chart;
  const left = chart.valToPos(from, 'x', true);
  const width = Math.max(chart.valToPos(to, 'x', true) - left, LEAST_WIDTH * ratio);
  const height = bbox.height * BAND;
  const y = bbox.top + (bbox.height - height) / 2;
  ctx.fillStyle = line;
  ctx.globalAlpha = strengthOf(value, highest);
  ctx.fillRect(left, y, width, height);
  if (top > value) {
    ctx.globalAlpha = strengthOf(top, highest);
    ctx.fillRect(left, y + height * (1 - share), width, height * share);
  }
  ctx.globalAlpha = 1;
  const name = states(value);
  const start = Math.max(left, bbox.left) + PADDING * ratio;
  const room = Math.min(left + width, bbox.left + bbox.width) - start - PADDING * ratio;
  if (top > value || ctx.measureText(name).width > room) return;
  ctx.fillStyle = ink;
  // The name stands above the band, because it is not legible on every band color.
  ctx.fillText(name, start, y - 9 * ratio);
}

const strengthOf = (value: number, highest: number): number =>
  STRENGTH.low + (STRENGTH.high - STRENGTH.low) * (value / highest);

/**
 * Renders a signal over time: a line of samples, or of averages in a band from minimum to maximum. Mouse, touch and keyboard
 * move and zoom the chart. The chart reports the wanted window, and the parent component decides. A table next to the chart has
 * the values for screen readers.
 */
export function TimeChart(props: {
  label: string;
  shape: Shape;
  /** time between two samples in ms, from the birth message; longer pauses are gaps */
  intervalMs: number | null;
  window: Window;
  bounds: Bounds;
  /** `isSettled`: the gesture has ended */
  onWindow: (next: Window, isSettled: boolean) => void;
  onReset: () => void;
  onPlace: (place: number | null, ts: number | null) => void;
  /** text for screen readers about the point that the keyboard reached; the chart announces nothing else */
  inWords: (place: number) => string;
  cursorKey?: string;
  plugins?: uPlot.Plugin[];
  onPlot?: (edges: Edges) => void;
  describedBy?: string;
}) {
  const { label, shape, intervalMs, cursorKey, plugins, describedBy } = props;
  const picture = useMemo(() => drawn(shape, intervalMs), [shape, intervalMs]);
  const shown = useRef({ ...props, picture });
  shown.current = { ...props, picture };

  const { frame, announcement } = useTimePlot({
    shown: shown.current,
    options: (element, zone, cursorAt) => ({
      ...chartOptions({
        host: element,
        zone,
        cursorKey,
        isRaw: () => shown.current.shape.stepMs === null,
        entryUnder(ts, reachMs) {
          const { picture, shape } = shown.current;
          return entryUnder(picture, ts, Math.max(reachMs, (shape.stepMs ?? 0) / 2));
        },
        onPlot: (edges) => shown.current.onPlot?.(edges),
        onCursor(entry, ts) {
          const { picture, onPlace } = shown.current;
          const walked = cursorAt();
          const meant = walked === null ? entry : entryNear(picture, walked);
          onPlace(shapeIndexOf(picture, meant), walked ?? ts);
        },
      }),
      plugins,
    }),
    inWords(ts) {
      const place = shapeIndexOf(picture, entryNear(picture, ts));
      return place === null ? null : props.inWords(place);
    },
    inputs: [cursorKey, plugins],
  });

  return (
    <>
      <div
        class="chart"
        role="application"
        aria-roledescription="chart"
        aria-label={label}
        aria-describedby={describedBy}
        {...frame}
      />
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </>
  );
}
