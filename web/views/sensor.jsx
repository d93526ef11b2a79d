import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { useAlarmBands, useMarks } from '../chart/marks.js';
import { pointsFor, useExtent } from '../chart/reader.js';
import { present, statisticsOf, thresholdsIn } from '../chart/readout.js';
import { within } from '../chart/shape.js';
import { SignalChart } from '../chart/signal-chart.jsx';
import { useSeries } from '../chart/use-series.js';
import { lengthOf, readWindow, useWindow, writeWindow } from '../chart/window.js';
import { Annotations, useAnnotations } from '../components/annotations.jsx';
import { ChartDownloads } from '../components/chart-downloads.jsx';
import { RangeFigures, StateFigures } from '../components/figure.jsx';
import { Breadcrumbs } from '../components/navigation.jsx';
import { OfflineBanner, ProblemLine, ProblemNotice, SlowLine } from '../components/notice.jsx';
import { RangeData } from '../components/range-data.jsx';
import { SensorMissing, SensorTitle } from '../components/sensor-title.jsx';
import { SignalOptions, ThresholdForm } from '../components/signal-options.jsx';
import { Overview, WindowBar } from '../components/window-bar.jsx';
import { formatDateTime } from '../format.js';
import { deviceHref, withQuery } from '../routes.js';
import { useSensorAlarms } from '../state/alarms.js';
import { useServices, useTitle } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { NO_THRESHOLDS, useThresholds } from '../state/preferences.js';
import { useSensor } from '../state/sensor.js';
import { useMay } from '../state/session.js';
import { useStale } from '../state/stats.js';
import { limitScale } from '../units.js';
import '../styles/sensor.css';

/** @import { Edges } from '../chart/options.js' */
/** @import { Shape } from '../chart/shape.js' */

/**
 * One sensor: its newest value, its chart, and the same in figures.
 *
 * @param {{ device: string, sensor: string }} props ids or names
 */
export function SensorView({ device, sensor }) {
  const { preferences, router } = useServices();
  const { units, zone } = preferences.choice.value;
  const { query } = router.place.value;
  const { data, missing, item, recent, problem, slow, reload } = useSensor(device, sensor);
  const stale = useStale();
  const extent = useExtent(data);
  const time = useWindow(item?.ts ? Date.parse(item.ts) : null, extent?.from);
  const { window, bounds } = time;
  const intervalMs = data?.interval_ms ?? null;
  const series = useSeries(data, window, pointsFor(lengthOf(window), innerWidth, intervalMs));
  const { thresholds, change: changeThresholds } = useThresholds(data ? keyOf(data) : '');
  const [edges, onPlot] = useEdges();
  const notes = useAnnotations(data ? [data.device_id] : [], time.settled);
  const marks = useMarks(notes.annotations, zone);
  const bands = useAlarmBands(useSensorAlarms(data));
  const plugins = useMemo(() => [...bands, ...marks], [bands, marks]);
  const chart = useRef(/** @type {HTMLElement | null} */ (null));
  const name = item?.name ?? sensor;
  const deviceName = item?.device ?? device;
  const type = item?.type ?? null;
  const unit = item?.unit ?? null;
  const labels = useMemo(() => ({ name, type, unit }), [name, type, unit]);
  const asRate = query.get('as') === 'rate';
  const presented = useMemo(
    () => present(series.shape, labels, { choices: units, asRate }),
    [series.shape, labels, units, asRate],
  );
  const { scale, states, isRate } = presented;
  const raw = useMemo(() => inWindow(series.shape, window), [series.shape, window.from, window.to]);
  const shape = useMemo(() => inWindow(presented.shape, window), [presented, window.from, window.to]);
  const statistics = useMemo(() => statisticsOf(shape), [shape]);
  const drawnThresholds = isRate || states ? NO_THRESHOLDS : thresholdsIn(thresholds, scale);
  useTitle(`${name} · ${deviceName}`);

  if (problem) return <ProblemNotice problem={problem} onRetry={reload} />;
  return (
    <>
      <Breadcrumbs
        steps={[
          { label: 'Fleet', href: '/' },
          { label: deviceName, href: deviceHref(item?.device_id ?? device, item?.device) },
        ]}
      />
      <OfflineBanner stale={stale} />
      {missing ? (
        <SensorMissing sensor={sensor} device={device} />
      ) : (
        <>
          <SensorTitle label={data?.label ?? null} {...{ name, item, recent, intervalMs, stale }} />
          {(slow || series.slow) && <SlowLine />}
          <section
            class="panel"
            ref={chart}
            aria-label="Chart"
            aria-busy={series.loading}
            data-stale={stale !== null && window.live}
          >
            <WindowBar {...time} />
            {series.problem && <ProblemLine problem={series.problem} onRetry={series.reload} />}
            <SignalChart
              {...{ name, type, intervalMs, window, bounds, states, onPlot, plugins }}
              unit={scale.unit}
              thresholds={drawnThresholds}
              shape={presented.shape}
              loading={series.loading}
              onWindow={time.change}
              onReset={time.reset}
              title={<SignalOptions unit={unit} isCounter={presented.isCounter} />}
            >
              {shape.ts.length === 0 && !series.problem && (
                <QuietRange loading={series.loading} newest={item?.ts ?? null} />
              )}
            </SignalChart>
            {extent && <Overview {...{ extent, type, window, bounds, edges }} onWindow={time.change} />}
            <ChartDownloads
              name={`${deviceName} ${name}`}
              lines={[{ device: deviceName, sensor: name, unit: scale.unit, shape }]}
              chart={chart}
            />
            {states ? (
              <StateFigures shape={shape} states={states} count={statistics.count} />
            ) : (
              <RangeFigures statistics={statistics} shape={shape} unit={scale.unit} />
            )}
            {states || isRate ? (
              <div class="thresholds">
                <RuleLink device={deviceName} sensor={name} />
              </div>
            ) : (
              <ThresholdForm
                thresholds={thresholds}
                onChange={changeThresholds}
                shape={raw}
                scale={limitScale(unit, units)}
              >
                <RuleLink device={deviceName} sensor={name} />
              </ThresholdForm>
            )}
          </section>
          {data && (
            <Annotations
              annotations={notes.annotations}
              device={{ id: data.device_id, name: deviceName }}
              at={window.to}
              onChange={notes.reload}
            />
          )}
          {data && (
            <RangeData
              sensor={data}
              window={time.settled}
              {...{ shape, states }}
              unit={scale.unit}
              values={presented.values}
              thresholds={drawnThresholds}
            />
          )}
        </>
      )}
    </>
  );
}

/** @param {Shape} shape @param {{ from: number, to: number }} window */
const inWindow = (shape, { from, to }) => within(shape, { from, to: to + 1 });

/** Leads from a chart to a rule of its sensor. @param {{ device: string, sensor: string }} props */
function RuleLink({ device, sensor }) {
  const mayAct = useMay('admin');
  if (!mayAct) return null;
  const query = new URLSearchParams({ device, sensor });
  return (
    <a class="button" href={`/alarms?${query}`}>
      Set an alarm …
    </a>
  );
}

/** Where the plot of the chart is, so that the strip below lines up with it. @returns {[Edges | null, (next: Edges) => void]} */
function useEdges() {
  const [edges, setEdges] = useState(/** @type {Edges | null} */ (null));
  const onPlot = useCallback(
    (/** @type {Edges} */ next) =>
      setEdges((now) => (now?.left === next.left && now.right === next.right ? now : next)),
    [],
  );
  return [edges, onPlot];
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
  const { zone } = preferences.choice.value;
  const place = router.place.value;
  if (loading) return <p>Reading samples…</p>;
  if (newest === null) return <p>This sensor has not measured anything yet.</p>;
  return (
    <>
      <p>No samples in this range. The newest is of {formatDateTime(Date.parse(newest), zone)}.</p>
      <p>
        <a class="button" href={withQuery(place, around(place.query, Date.parse(newest)))}>
          Show that time
        </a>
      </p>
    </>
  );
}

/** @param {URLSearchParams} query @param {number} newest epoch ms @returns {Record<string, string | null>} as long a window, with the newest sample well in it */
function around(query, newest) {
  const length = lengthOf(readWindow(query, newest));
  const to = newest + Math.ceil(length * ROOM);
  return writeWindow({ live: false, from: to - length, to });
}
