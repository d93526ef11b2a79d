import { html } from 'htm/preact';
import { useMemo } from 'preact/hooks';
import { pointsFor } from '../chart/reader.js';
import { within } from '../chart/shape.js';
import { SignalChart } from '../chart/signal-chart.js';
import { statisticsOf } from '../chart/statistics.js';
import { useExtent } from '../chart/use-extent.js';
import { useSeries } from '../chart/use-series.js';
import { useThresholds } from '../state/use-thresholds.js';
import { useWindow } from '../chart/use-window.js';
import { lengthOf } from '../chart/window.js';
import { CutOff } from '../components/cut-off.js';
import { ProblemLine, ProblemNotice, SlowLine } from '../components/notice.js';
import { Overview } from '../components/overview.js';
import { QuietRange } from '../components/quiet-range.js';
import { RangeData } from '../components/range-data.js';
import { RangeFigures } from '../components/range-figures.js';
import { SensorTitle } from '../components/sensor-title.js';
import { ThresholdForm } from '../components/threshold-form.js';
import { Trail } from '../components/trail.js';
import { WindowBar } from '../components/window-bar.js';
import { deviceHref } from '../routes.js';
import { keyOf } from '../state/live.js';
import { useCutOff } from '../state/use-cut-off.js';
import { useSensor } from '../state/use-sensor.js';
import { useTitle } from '../state/use-title.js';

/**
 * One sensor: what it says now, its chart, and the same in figures.
 *
 * @param {{ device: string, sensor: string }} props ids or names
 */
export function SensorView({ device, sensor }) {
  const { data, item, recent, problem, slow, reload } = useSensor(device, sensor);
  const cutOff = useCutOff();
  const extent = useExtent(data);
  const time = useWindow(item?.ts ? Date.parse(item.ts) : null, extent?.from);
  const { window, bounds } = time;
  const intervalMs = data?.interval_ms ?? null;
  const series = useSeries(data, window, pointsFor(lengthOf(window), innerWidth, intervalMs));
  const { thresholds, change: changeThresholds } = useThresholds(data ? keyOf(data) : '');
  const shape = useMemo(
    () => within(series.shape, { from: window.from, to: window.to + 1 }),
    [series.shape, window.from, window.to],
  );
  const statistics = useMemo(() => statisticsOf(shape), [shape]);
  const name = item?.name ?? sensor;
  const deviceName = item?.device ?? device;
  const type = item?.type ?? null;
  const unit = item?.unit ?? null;
  useTitle(`${name} · ${deviceName}`);

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
  return html`
    <${Trail} steps=${[
      { label: 'Fleet', href: '/' },
      { label: deviceName, href: deviceHref(item?.device_id ?? device) },
    ]} />
    <${CutOff} since=${cutOff} />
    <${SensorTitle} name=${name} item=${item} recent=${recent} isOld=${cutOff !== null} />
    ${(slow || series.slow) && html`<${SlowLine} />`}
    <section class="panel" aria-label="Chart" aria-busy=${series.loading} data-stale=${cutOff !== null && window.live}>
      <${WindowBar} ...${time} />
      ${series.problem && html`<${ProblemLine} problem=${series.problem} onRetry=${series.reload} />`}
      <${SignalChart}
        ...${{ name, type, unit, intervalMs, window, bounds, thresholds }}
        shape=${series.shape}
        loading=${series.loading}
        onWindow=${time.change}
        onReset=${time.reset}
      >
        ${
          shape.ts.length === 0 &&
          !series.problem &&
          html`<${QuietRange} loading=${series.loading} newest=${item?.ts ?? null} />`
        }
      <//>
      ${extent && html`<${Overview} ...${{ extent, type, window, bounds }} onWindow=${time.change} />`}
      <${RangeFigures} statistics=${statistics} shape=${shape} unit=${unit} />
      <${ThresholdForm} thresholds=${thresholds} onChange=${changeThresholds} shape=${shape} unit=${unit} />
    </section>
    ${data && html`<${RangeData} sensor=${data} window=${time.settled} ...${{ shape, unit, thresholds }} />`}
  `;
}
