import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { NO_THRESHOLDS } from '../state/preferences.js';
import { chartOptions } from './options.js';
import { entryNear, entryUnder, placeOf, useTimePlot } from './plot.js';
import { drawn } from './shape.js';
import 'uplot/dist/uPlot.min.css';
import '../styles/chart.css';

/** @import uPlot from 'uplot' */
/** @import { Edges } from './options.js' */
/** @import { Shape } from './shape.js' */
/** @import { Thresholds } from '../state/preferences.js' */
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
 * @param {(place: number | null, ts: number | null) => void} props.onPlace index in the shape of what is under the cursor, and the time there
 *   in epoch ms; null: nothing was measured there, or the cursor is away
 * @param {(place: number) => string} props.inWords text for screen readers of the point that the keyboard reached; the chart announces nothing else
 * @param {Thresholds} [props.thresholds]
 * @param {string} [props.cursorKey] charts with the same one move their cursors together
 * @param {uPlot.Plugin[]} [props.plugins] what else it draws, and how it differs
 * @param {(edges: Edges) => void} [props.onPlot] where the plot is; called after each drawing
 * @param {string} [props.describedBy] id of the text that explains its use
 */
export function TimeChart(props) {
  const { label, shape, intervalMs, thresholds = NO_THRESHOLDS, cursorKey, plugins, describedBy } = props;
  const picture = useMemo(() => drawn(shape, intervalMs), [shape, intervalMs]);
  const shown = useRef({ ...props, picture, thresholds });
  shown.current = { ...props, picture, thresholds };

  const { frame, announcement, redraw } = useTimePlot({
    shown: shown.current,
    options: (element, zone, cursorAt) => ({
      ...chartOptions({
        host: element,
        zone,
        cursorKey,
        look: () => ({ isRaw: shown.current.shape.stepMs === null, thresholds: shown.current.thresholds }),
        entryUnder(ts, reachMs) {
          const { picture, shape } = shown.current;
          return entryUnder(picture, ts, Math.max(reachMs, (shape.stepMs ?? 0) / 2));
        },
        onPlot: (edges) => shown.current.onPlot?.(edges),
        onCursor(entry, ts) {
          const { picture, onPlace } = shown.current;
          const walked = cursorAt();
          const meant = walked === null ? entry : entryNear(picture, walked);
          onPlace(placeOf(picture, meant), walked ?? ts);
        },
      }),
      plugins,
    }),
    inWords(ts) {
      const place = placeOf(picture, entryNear(picture, ts));
      return place === null ? null : props.inWords(place);
    },
    inputs: [cursorKey, plugins],
  });
  // Lines may stretch the scale of the values, which follows that of the times.
  useLayoutEffect(redraw, [thresholds.low, thresholds.high]);

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
