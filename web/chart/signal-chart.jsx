import { useCallback, useId, useMemo, useState } from 'preact/hooks';
import { formatStep, formatUnit, hueOf } from '../format.js';
import { useServices } from '../state/hooks.js';
import { stretchesOf } from '../states.js';
import { inOneLine, noSampleWords, pointWords } from './readout.js';
import { drawn } from './shape.js';
import { TimeChart } from './time-chart.jsx';

/** @import { StateNames, Stretch } from '../states.js' */
/** @import { Edges } from './options.js' */
/** @import { PointWords } from './readout.js' */
/** @import { Shape } from './shape.js' */
/** @import { Thresholds } from '../state/preferences.js' */
/** @import { Bounds, Window } from './window.js' */
/** @import UPlot, { Plugin } from 'uplot' */

const HINT =
  'Drag to zoom in, Shift and drag to pan, Ctrl and wheel to zoom; on a touch screen pinch and swipe. Keys: plus and minus zoom, arrows walk along the line, with Shift they pan, 0 goes back.';

/** @type {Plugin[]} */
const NO_PLUGINS = [];

/**
 * The chart of one sensor, and above it what the cursor is on.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {string | null} props.type
 * @param {string | null} props.unit of the shape
 * @param {number | null} props.intervalMs between two samples, from the device's birth
 * @param {Shape} props.shape
 * @param {StateNames | null} [props.states] the shape has states, drawn as bands
 * @param {boolean} props.loading
 * @param {Window} props.window
 * @param {Bounds} props.bounds
 * @param {(next: Window, isSettled: boolean) => void} props.onWindow
 * @param {() => void} props.onReset
 * @param {(edges: Edges) => void} [props.onPlot] where the plot is
 * @param {Thresholds} [props.thresholds]
 * @param {string} [props.cursorKey] charts with the same one move their cursors together
 * @param {Plugin[]} [props.plugins] what else it draws
 * @param {any} [props.title] what stands in front of the unit
 * @param {any} [props.children] what stands over an empty chart
 */
export function SignalChart({
  name,
  type,
  unit,
  shape,
  states = null,
  loading,
  plugins: added = NO_PLUGINS,
  title,
  children,
  ...chart
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [cursor, setCursor] = useState(
    /** @type {{ place: number | null, ts: number | null }} */ ({ place: null, ts: null }),
  );
  const onPlace = useCallback((/** @type {number | null} */ place, /** @type {number | null} */ ts) => {
    // The time counts only where there is no point.
    const next = place === null ? { place, ts } : { place, ts: null };
    setCursor((now) => (now.place === next.place && now.ts === next.ts ? now : next));
  }, []);
  const hint = useId();
  const statePlugins = useStatePlugins(shape, states, chart.intervalMs);
  const plugins = useMemo(() => [...statePlugins, ...added], [statePlugins, added]);
  const inWords = (/** @type {number} */ at) => pointWords(shape, at, unit, zone, states);
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
        label={`${name} over time; a table on this page has the same figures`}
        shape={shape}
        onPlace={onPlace}
        inWords={(/** @type {number} */ at) => inOneLine(inWords(at))}
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

/**
 * What draws the bands of states in place of a line. It is the same as long as the signal stays one of states.
 *
 * @param {Shape} shape
 * @param {StateNames | null} states
 * @param {number | null} intervalMs
 */
export function useStatePlugins(shape, states, intervalMs) {
  const hasStates = states !== null;
  const current = useMemo(() => ({ shape, states, intervalMs }), [hasStates]);
  Object.assign(current, { shape, states, intervalMs });
  return useMemo(() => (hasStates ? [statePlugin(() => current)] : []), [hasStates, current]);
}

/** Explains the points of the line. @param {{ shape: Shape, unit: string | null, states: StateNames | null }} props */
function SourceNote({ shape, unit, states }) {
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

/** The values under the cursor. @param {{ words: PointWords | null }} props */
const Readout = ({ words }) =>
  words && (
    <p class="readout">
      <span>{words.when}</span> <strong>{words.value}</strong> {words.band && <span>{words.band}</span>}
    </p>
  );

/**
 * @typedef {object} StateSignal
 * @property {Shape} shape
 * @property {StateNames | null} states
 * @property {number | null} intervalMs between two samples, from the device's birth
 */

/** Thinner is not seen, in CSS pixels. */
const LEAST_WIDTH = 2;
/** The band lies in the middle of the plot, as high as this part of it. */
const BAND = 0.6;
/** The lowest and the highest state are as strong as this. */
const STRENGTH = { low: 0.22, high: 0.9 };
/** Room next to the name of a state in its band, in CSS pixels. */
const PADDING = 6;

/**
 * Draws a signal of states as bands in place of its line.
 *
 * @param {() => StateSignal} current what to draw by now
 * @returns {Plugin}
 */
const statePlugin = (current) => ({
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

/** @param {UPlot} chart @param {StateSignal} signal */
function paintStates(chart, { shape, states, intervalMs }) {
  if (!states) return;
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const color = (/** @type {string} */ name) => getComputedStyle(chart.root).getPropertyValue(name);
  const highest = shape.max.reduce((most, value) => Math.max(most, value), 1);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  for (const stretch of stretchesOf(shape, drawn(shape, intervalMs))) {
    paintStretch(chart, stretch, { states, highest, ratio, line: color('--line'), ink: color('--ink') });
  }
  ctx.restore();
}

/**
 * A band of one color; of a bin with two states, the higher one takes its share from below.
 *
 * @param {UPlot} chart
 * @param {Stretch} stretch
 * @param {{ states: StateNames, highest: number, ratio: number, line: string, ink: string }} how
 */
function paintStretch(
  chart,
  { from, to, value, highest: top, share },
  { states, highest, ratio, line, ink },
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
  // Above the band, where every color of it leaves the name legible.
  ctx.fillText(name, start, y - 9 * ratio);
}

/** @param {number} value @param {number} highest of all states @returns {number} opacity */
const strengthOf = (value, highest) => STRENGTH.low + (STRENGTH.high - STRENGTH.low) * (value / highest);
