import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { NO_THRESHOLDS } from '../state/preferences.ts';
import { chartOptions } from './options.ts';
import { entryNear, entryUnder, placeOf, useTimePlot } from './plot.ts';
import { drawn } from './shape.ts';
import 'uplot/dist/uPlot.min.css';
import '../styles/chart.css';
import type uPlot from 'uplot';
import type { Thresholds } from '../state/preferences.ts';
import type { Edges } from './options.ts';
import type { Shape } from './shape.ts';
import type { Bounds, Window } from './window.ts';

/**
 * A signal over time: a line of samples, or of averages in a band from lowest to highest. It is moved and zoomed by mouse, touch
 * and keyboard. It reports the wanted window, and its parent decides. A table next to it has the same figures for screen readers.
 */
export function TimeChart(props: {
  label: string;
  shape: Shape;
  /** between two samples, from the device's birth; longer pauses are gaps */
  intervalMs: number | null;
  window: Window;
  bounds: Bounds;
  /** `isSettled`: not on the way any more */
  onWindow: (next: Window, isSettled: boolean) => void;
  onReset: () => void;
  /**
   * index in the shape of what is under the cursor, and the time there
   * in epoch ms; null: nothing was measured there, or the cursor is away
   */
  onPlace: (place: number | null, ts: number | null) => void;
  /** text for screen readers of the point that the keyboard reached; the chart announces nothing else */
  inWords: (place: number) => string;
  thresholds?: Thresholds;
  /** charts with the same one move their cursors together */
  cursorKey?: string;
  /** what else it draws, and how it differs */
  plugins?: uPlot.Plugin[];
  /** where the plot is; called after each drawing */
  onPlot?: (edges: Edges) => void;
  /** id of the text that explains its use */
  describedBy?: string;
}) {
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
