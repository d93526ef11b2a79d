import { html } from 'htm/preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { NO_THRESHOLDS } from '../state/thresholds.js';
import { drawn } from './columns.js';
import { listenForGestures } from './gestures.js';
import { chartOptions } from './options.js';
import { entryNear, moveCursor, placeOf, press, show, usePlot } from './plot.js';

/** @import { Shape } from './shape.js' */
/** @import { Thresholds } from '../state/thresholds.js' */
/** @import { Bounds, Window } from './window.js' */

/**
 * A signal over time: a line of samples, or of averages in a band from lowest to highest. It is moved and zoomed by mouse, touch
 * and keyboard. It reports the wanted window, and its parent decides. A table next to it has the same figures for screen readers.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {Shape} props.shape
 * @param {number | null} props.intervalMs between two samples, from the device's birth; longer pauses are gaps
 * @param {Window} props.window
 * @param {Bounds} props.bounds
 * @param {(next: Window, isSettled: boolean) => void} props.onWindow `isSettled`: not on the way any more
 * @param {() => void} props.onReset
 * @param {(place: number | null) => void} props.onPlace index in the shape, of what is under the cursor
 * @param {(place: number) => string} props.inWords text for screen readers of the point that the keyboard reached; the chart announces nothing else
 * @param {Thresholds} [props.thresholds]
 * @param {string} [props.cursorKey] charts with the same one move their cursors together
 * @param {uPlot.Plugin[]} [props.plugins] what else it draws, and how it differs
 * @param {string} [props.describedBy] id of the text that explains its use
 */
export function TimeChart(props) {
  const {
    label,
    shape,
    intervalMs,
    window,
    thresholds = NO_THRESHOLDS,
    cursorKey,
    plugins,
    describedBy,
  } = props;
  const picture = useMemo(() => drawn(shape, intervalMs), [shape, intervalMs]);
  const [announcement, setAnnouncement] = useState('');
  /** Epoch ms to which keys have brought the cursor; null: the mouse has it, or nobody. */
  const walked = useRef(/** @type {number | null} */ (null));
  const shown = useRef({ ...props, picture, thresholds });
  shown.current = { ...props, picture, thresholds };

  const { host, chart } = usePlot(
    (element, zone) => {
      const options = chartOptions({
        host: element,
        zone,
        cursorKey,
        look: () => ({ isRaw: shown.current.shape.stepMs === null, thresholds: shown.current.thresholds }),
        onCursor(entry) {
          const { picture, onPlace } = shown.current;
          onPlace(placeOf(picture, walked.current === null ? entry : entryNear(picture, walked.current)));
        },
      });
      const plot = new uPlot({ ...options, plugins }, shown.current.picture.columns, element);
      show(plot, { ...shown.current, walked: walked.current });
      const stop = listenForGestures(plot.over, {
        current: () => shown.current.window,
        bounds: () => shown.current.bounds,
        onWindow(next, isSettled) {
          // The next event may come before the next drawing.
          shown.current.window = next;
          shown.current.onWindow(next, isSettled);
        },
        onSelect: (left, width) =>
          plot.setSelect({ left, width, top: 0, height: plot.over.clientHeight }, false),
      });
      return { plot, stop };
    },
    [cursorKey, plugins],
  );

  useLayoutEffect(() => {
    if (chart.current) show(chart.current, { picture, window, walked: walked.current });
  }, [picture, window.from, window.to]);
  useLayoutEffect(() => {
    if (!chart.current) return;
    // Lines may stretch the scale of the values, which follows that of the times.
    show(chart.current, { picture, window, walked: walked.current });
    chart.current.redraw(false, true);
  }, [thresholds.low, thresholds.high]);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    if (!chart.current) return;
    const ts = press(event, chart.current, { ...shown.current, walked: walked.current });
    if (ts === null) return;
    walked.current = ts;
    moveCursor(chart.current, ts);
    const place = placeOf(picture, entryNear(picture, ts));
    if (place !== null) setAnnouncement(props.inWords(place));
  }
  function letGo() {
    walked.current = null;
  }
  function onBlur() {
    letGo();
    if (chart.current) moveCursor(chart.current, null);
    setAnnouncement('');
  }

  return html`
    <div
      class="chart"
      ref=${host}
      role="application"
      aria-roledescription="chart"
      tabindex="0"
      aria-label=${label}
      aria-describedby=${describedBy}
      onKeyDown=${onKeyDown}
      onPointerMove=${letGo}
      onDblClick=${() => props.onReset()}
      onBlur=${onBlur}
    ></div>
    <p class="visually-hidden" role="status">${announcement}</p>
  `;
}
