import { html } from 'htm/preact';
import { useMemo } from 'preact/hooks';
import { pointsFor } from '../chart/reader.js';
import { within } from '../chart/shape.js';
import { SignalChart } from '../chart/signal-chart.js';
import { statisticsOf } from '../chart/statistics.js';
import { useSeries } from '../chart/use-series.js';
import { useWindow } from '../chart/use-window.js';
import { lengthOf } from '../chart/window.js';
import { BinTable } from '../components/bin-table.js';
import { ProblemNotice, SlowLine } from '../components/notice.js';
import { QuietRange } from '../components/quiet-range.js';
import { RangeFigures } from '../components/range-figures.js';
import { SampleTable } from '../components/sample-table.js';
import { SensorTitle } from '../components/sensor-title.js';
import { Trail } from '../components/trail.js';
import { WindowBar } from '../components/window-bar.js';
import { deviceHref } from '../routes.js';
import { useSensor } from '../state/use-sensor.js';
import { useTitle } from '../state/use-title.js';

/**
 * One sensor: what it says now, its chart, and the same in figures.
 *
 * @param {{ device: string, sensor: string }} props ids or names
 */
export function SensorView({ device, sensor }) {
  const { data, item, recent, problem, slow, reload } = useSensor(device, sensor);
  const time = useWindow(item?.ts ? Date.parse(item.ts) : null);
  const { window } = time;
  const intervalMs = data?.interval_ms ?? null;
  const series = useSeries(data, window, pointsFor(lengthOf(window), innerWidth, intervalMs));
  const shown = useMemo(
    () => within(series.shape, { from: window.from, to: window.to + 1 }),
    [series.shape, window.from, window.to],
  );
  const statistics = useMemo(() => statisticsOf(shown), [shown]);
  const name = item?.name ?? sensor;
  const deviceName = item?.device ?? device;
  useTitle(`${name} · ${deviceName}`);

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
  return html`
    <${Trail} steps=${[
      { label: 'Fleet', href: '/' },
      { label: deviceName, href: deviceHref(item?.device_id ?? device) },
    ]} />
    <${SensorTitle} name=${name} item=${item} recent=${recent} />
    ${(slow || series.slow) && html`<${SlowLine} />`}
    <section class="panel" aria-label="Chart" aria-busy=${series.loading}>
      <${WindowBar} ...${time} />
      ${
        series.problem
          ? html`<${ProblemNotice} problem=${series.problem} onRetry=${series.reload} />`
          : html`<${SignalChart}
            name=${name}
            type=${item?.type ?? null}
            unit=${item?.unit ?? null}
            intervalMs=${intervalMs}
            shape=${series.shape}
            loading=${series.loading}
            window=${window}
            bounds=${time.bounds}
            onWindow=${time.change}
            onReset=${time.reset}
          >
            ${shown.ts.length === 0 && html`<${QuietRange} loading=${series.loading} newest=${item?.ts ?? null} />`}
          <//>`
      }
      <${RangeFigures} statistics=${statistics} shape=${shown} unit=${item?.unit ?? null} />
    </section>
    <section class="panel" aria-label="Samples">
      ${
        shown.stepMs === null
          ? html`<${SampleTable} samples=${{ ts: shown.ts, value: shown.max }} unit=${item?.unit ?? null} />`
          : html`<${BinTable} shape=${shown} unit=${item?.unit ?? null} />`
      }
    </section>
  `;
}
