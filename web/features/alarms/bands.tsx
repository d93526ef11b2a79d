import { useEffect, useMemo } from 'preact/hooks';
import type UPlot from 'uplot';
import type { Plugin } from 'uplot';
import type { ChartSubject } from '../../feature.ts';
import { formatDateTime } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import type { Alarm } from './api.ts';
import { useSensorAlarms } from './sensor-alarms.ts';

/** Draws the alarms of a sensor in its chart. Charts of several sensors have none. */
export function useChart({ sensor, range }: ChartSubject) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { alarms, missing } = useSensorAlarms(sensor);
  const plugins = useAlarmBands(alarms);
  const note = missing !== null && range.from < missing && (
    <p class="none">Alarms that began before {formatDateTime(missing, zone)} are not drawn.</p>
  );
  return { plugins, note };
}

/** Minimum width of a band in CSS pixels, so that it stays visible. */
const LEAST_WIDTH = 2;

/** Opacity of the band of an alarm, so that the background stays visible. */
const OPACITY = { open: 0.28, cleared: 0.16 };

/**
 * Draws alarms as bands behind the line of a chart, from the start of each alarm to its end.
 *
 * @returns plugins; the array stays the same while the chart exists
 */
function useAlarmBands(alarms: Alarm[]): Plugin[] {
  const bands = useMemo(createBands, []);
  useEffect(() => bands.set(alarms), [bands, alarms]);
  return bands.plugins;
}

function createBands() {
  let chart: UPlot | null = null;
  let alarms: Alarm[] = [];

  function paint(plot: UPlot) {
    const { ctx, bbox } = plot;
    const color = getComputedStyle(plot.root).getPropertyValue('--bad');
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = color;
    for (const { state, started_at, cleared_at } of alarms) {
      if (state === 'withdrawn') continue;
      const left = plot.valToPos(Date.parse(started_at), 'x', true);
      const right =
        cleared_at === null ? bbox.left + bbox.width : plot.valToPos(Date.parse(cleared_at), 'x', true);
      ctx.globalAlpha = OPACITY[state];
      ctx.fillRect(left, bbox.top, Math.max(right - left, LEAST_WIDTH * devicePixelRatio), bbox.height);
    }
    ctx.restore();
  }

  return {
    set(next: Alarm[]) {
      alarms = next;
      chart?.redraw(false, false);
    },

    plugins: [
      {
        hooks: {
          ready(plot) {
            chart = plot;
          },
          drawClear: paint,
          destroy() {
            chart = null;
          },
        },
      } as Plugin,
    ],
  };
}
