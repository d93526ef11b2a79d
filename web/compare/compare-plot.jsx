import { useMemo, useRef } from 'preact/hooks';
import { chartOptions, colorsOf } from '../chart/options.js';
import { useTimePlot } from '../chart/plot.js';
import { NO_THRESHOLDS } from '../state/preferences.js';
import { axesOf, joined } from './use-compared.js';
import 'uplot/dist/uPlot.min.css';
import '../styles/chart.css';

/** @import uPlot from 'uplot' */
/** @import { Bounds, Window } from '../chart/window.js' */
/** @import { Line } from './use-compared.js' */

/** Lines after this number are dashed: eight lines differ by more than their colors. */
const SOLID = 4;
const DASHES = { solid: undefined, dashed: [8, 4], ghost: [2, 4] };

/** The same array each time: another one would rebuild the plot. @type {uPlot.Plugin[]} */
const NO_PLUGINS = [];

/**
 * Several signals on one axis of time. It is moved and zoomed as the chart of one sensor. A table next to it has the same figures.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {Line[]} props.lines the same array as long as they are the same
 * @param {Window} props.window
 * @param {Bounds} props.bounds
 * @param {(next: Window, isSettled: boolean) => void} props.onWindow `isSettled`: not on the way any more
 * @param {() => void} props.onReset
 * @param {(ts: number | null) => void} props.onCursor epoch ms under the cursor; null: it is away
 * @param {(ts: number) => string} props.inWords text for screen readers of the time that the keyboard reached
 * @param {string} props.cursorKey charts with the same one move their cursors together
 * @param {uPlot.Plugin[]} [props.plugins] what else it draws
 * @param {string} [props.describedBy] id of the text that explains its use
 */
export function ComparePlot(props) {
  const { label, lines, cursorKey, plugins = NO_PLUGINS, describedBy } = props;
  const picture = useMemo(() => joined(lines), [lines]);
  const shown = useRef({ ...props, picture });
  shown.current = { ...props, picture };
  const looks = lines.map(({ key, hue, scale, isGhost }) => [key, hue, scale, isGhost].join(' ')).join('\n');

  const { frame, announcement } = useTimePlot({
    shown: shown.current,
    options: (element, zone) => ({
      ...compareOptions({
        host: element,
        zone,
        cursorKey,
        lines: shown.current.lines,
        onCursor: (ts) => shown.current.onCursor(ts),
      }),
      plugins,
    }),
    inWords: props.inWords,
    inputs: [cursorKey, plugins, looks],
  });

  return (
    <>
      <div
        class="chart compare-chart"
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

/**
 * @param {object} what
 * @param {HTMLElement} what.host its custom properties give the colors
 * @param {'local' | 'utc'} what.zone
 * @param {string} what.cursorKey
 * @param {Line[]} what.lines
 * @param {(ts: number | null) => void} what.onCursor
 * @returns {uPlot.Options}
 */
function compareOptions({ host, zone, cursorKey, lines, onCursor }) {
  const look = () => ({ isRaw: false, thresholds: NO_THRESHOLDS });
  const base = chartOptions({ host, zone, cursorKey, look, entryUnder: nothing, onCursor() {}, onPlot() {} });
  // Each line has its own times: the cursor means its nearest sample.
  const { dataIdx: _, ...cursor } = base.cursor ?? {};
  const colors = lines.map(({ hue }) => hueColor(host, hue));
  const [times = {}, values = {}] = base.axes ?? [];
  const { x = {}, y = {} } = base.scales ?? {};
  const { bands: _bands, ...rest } = base;
  return {
    ...rest,
    cursor: {
      ...cursor,
      hover: { skip: [null, undefined] },
      points: { ...cursor.points, size: 7, fill: (_chart, index) => colors[index - 1] ?? '' },
    },
    scales: { x, ...Object.fromEntries(lines.map(({ scale }) => [scale, y])) },
    series: [
      {},
      ...lines.map(({ scale, isGhost }, index) => ({
        scale,
        stroke: colors[index] ?? '',
        width: isGhost ? 1 : 1.5,
        alpha: isGhost ? 0.6 : 1,
        dash: isGhost ? DASHES.ghost : index < SOLID ? DASHES.solid : DASHES.dashed,
        points: { show: false },
      })),
    ],
    axes: [
      times,
      ...axesOf(lines).map(({ scale, hue }, index) => ({
        ...values,
        scale,
        side: /** @type {1 | 3} */ (index === 0 ? 3 : 1),
        grid: index === 0 ? (values.grid ?? {}) : { show: false },
        ...(hue === null ? {} : { stroke: hueColor(host, hue) }),
      })),
    ],
    hooks: {
      setCursor: [
        (chart) => {
          const { left = -1 } = chart.cursor;
          onCursor(left < 0 ? null : chart.posToVal(left, 'x'));
        },
      ],
    },
  };
}

const nothing = () => null;

/** A hue's color, as its class gives it: a canvas cannot read the variable of a theme. @param {HTMLElement} host @param {number} hue */
function hueColor(host, hue) {
  const probe = document.createElement('i');
  probe.className = `hue-${hue}`;
  host.append(probe);
  const color = colorsOf(probe)('--line');
  probe.remove();
  return color;
}
