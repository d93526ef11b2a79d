import { html } from 'htm/preact';
import { useMemo } from 'preact/hooks';
import { pointsFor, useExtent } from '../chart/reader.js';
import { statisticsOf } from '../chart/readout.js';
import { within } from '../chart/shape.js';
import { SignalChart } from '../chart/signal-chart.js';
import { useSeries } from '../chart/use-series.js';
import { lengthOf, readWindow, useWindow, writeWindow } from '../chart/window.js';
import { RangeFigures } from '../components/figure.js';
import { Breadcrumbs } from '../components/navigation.js';
import { OfflineBanner, ProblemLine, ProblemNotice, SlowLine } from '../components/notice.js';
import { Overview } from '../components/overview.js';
import { RangeData } from '../components/range-data.js';
import { SensorTitle } from '../components/sensor-title.js';
import { ThresholdForm } from '../components/threshold-form.js';
import { WindowBar } from '../components/window-bar.js';
import { formatDateTime } from '../format.js';
import { deviceHref } from '../routes.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { withQuery } from '../state/router.js';
import { useSensor } from '../state/sensor.js';
import { useOfflineSince } from '../state/stats.js';
import { useThresholds } from '../state/thresholds.js';

/**
 * One sensor: its newest value, its chart, and the same in figures.
 *
 * @param {{ device: string, sensor: string }} props ids or names
 */
export function SensorView({ device, sensor }) {
  const { data, item, recent, problem, slow, reload } = useSensor(device, sensor);
  const offlineSince = useOfflineSince();
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
    <${Breadcrumbs} steps=${[
      { label: 'Fleet', href: '/' },
      { label: deviceName, href: deviceHref(item?.device_id ?? device) },
    ]} />
    <${OfflineBanner} since=${offlineSince} />
    <${SensorTitle} name=${name} item=${item} recent=${recent} isOld=${offlineSince !== null} />
    ${(slow || series.slow) && html`<${SlowLine} />`}
    <section class="panel" aria-label="Chart" aria-busy=${series.loading} data-stale=${offlineSince !== null && window.live}>
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

/** So much of the window is after the sample that it was moved to. */
const ROOM = 0.1;

/**
 * Stands over an empty chart: why it is empty, and where there is something to see.
 *
 * @param {object} props
 * @param {boolean} props.loading
 * @param {string | null} props.newest ISO 8601 time of the sensor's newest sample
 */
function QuietRange({ loading, newest }) {
  const { preferences, router } = useServices();
  const { zone } = useObservable(preferences);
  const place = useObservable(router.place);
  if (loading) return html`<p>Reading samples…</p>`;
  if (newest === null) return html`<p>This sensor has not measured anything yet.</p>`;
  return html`
    <p>No samples in this range. The newest is of ${formatDateTime(Date.parse(newest), zone)}.</p>
    <p><a class="button" href=${withQuery(place, around(place.query, Date.parse(newest)))}>Show that time</a></p>
  `;
}

/** @param {URLSearchParams} query @param {number} newest epoch ms @returns {Record<string, string | null>} as long a window, with the newest sample well in it */
function around(query, newest) {
  const length = lengthOf(readWindow(query, newest));
  const to = newest + Math.ceil(length * ROOM);
  return writeWindow({ live: false, from: to - length, to });
}
