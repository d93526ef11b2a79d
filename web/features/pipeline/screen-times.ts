import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import type { Services } from '../../state/hooks.ts';
import { useKept } from '../../state/hooks.ts';

/** Time from commit to screen in the last seconds, in ms. `at`: epoch ms */
type ScreenTimes = { at: number; p50: number; p99: number };

/** Number of last shown changes from which the percentiles are computed. */
const TIMES_KEPT = 256;
/** Maximum age in ms of the times from which the percentiles are computed. */
const FRESH_MS = 10_000;
/** Number of percentiles that are kept for the sparkline, one per second. */
const FIGURES_KEPT = 300;

/**
 * Measures the time from commit to screen. The server measures its part of the time, and the browser measures the rest. The two
 * clocks are never compared, so the network time is missing.
 */
export function createScreenTimes({
  requestFrame,
  afterPaint,
  clock = () => performance.now(),
}: {
  requestFrame: (run: () => void) => void;
  /** is called within an animation frame; runs the function after the paint */
  afterPaint: (run: () => void) => void;
  clock?: () => number;
}) {
  const figures = signal<ScreenTimes[]>([]);
  let times: { ms: number; shownAt: number }[] = [];
  let unseen: { waitedMs: number; arrivedAt: number }[] = [];
  let hiddenAt = Number.NEGATIVE_INFINITY;

  function noteAll() {
    const shownAt = clock();
    times.push(...unseen.map(({ waitedMs, arrivedAt }) => ({ ms: waitedMs + shownAt - arrivedAt, shownAt })));
    times = times.slice(-TIMES_KEPT);
    unseen = [];
  }

  return {
    figures,

    /** @param waitedMs time from the commit until the server sent the value @param arrivedAt time by `clock` */
    arrived(waitedMs: number, arrivedAt: number) {
      if (arrivedAt <= hiddenAt) return;
      unseen.push({ waitedMs, arrivedAt });
      if (unseen.length === 1) requestFrame(() => afterPaint(noteAll));
    },

    /**
     * Notes that the page was hidden. The next frame may come much later, so values that arrived until now do not
     * count.
     */
    noteHidden() {
      hiddenAt = clock();
      unseen = [];
    },

    /** Adds the percentiles of the last seconds to `figures`. @param now time in epoch ms */
    addFigure(now: number) {
      const oldest = clock() - FRESH_MS;
      const sorted = times.flatMap(({ ms, shownAt }) => (shownAt > oldest ? [ms] : [])).sort((a, b) => a - b);
      if (sorted.length === 0) return;
      const quantile = (share: number) =>
        Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
      const figure = { at: now, p50: quantile(0.5), p99: quantile(0.99) };
      figures.value = [...figures.peek().slice(1 - FIGURES_KEPT), figure];
    },
  };
}

function openScreenTimes({ live }: Services): Signal<ScreenTimes[]> {
  const times = createScreenTimes({
    requestFrame: (run) => requestAnimationFrame(run),
    afterPaint: (run) => setTimeout(run),
  });
  live.onDelta(times.arrived);
  live.stats.subscribe((stats) => stats && times.addFigure(Date.now()));
  document.addEventListener('visibilitychange', () => document.hidden && times.noteHidden());
  return times.figures;
}

/** @returns the percentiles of the last minutes, oldest first, from the first call on */
export const useScreenTimes = (): ScreenTimes[] => useKept(openScreenTimes).value;
