import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { pointsFor, useExtent } from '../../chart/reader.ts';
import { present } from '../../chart/readout.ts';
import { within } from '../../chart/shape.ts';
import { SignalChart } from '../../chart/signal-chart.tsx';
import { useSeries } from '../../chart/use-series.ts';
import { lengthOf, readWindow, useWindow, writeWindow } from '../../chart/window.ts';
import { WindowBar } from '../../chart/window-bar.tsx';
import { formatDateTime } from '../../format.ts';
import { Breadcrumbs } from '../../kit/navigation.tsx';
import { ProblemLine, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { ChartActions, Slot, useChartParts, useOverview, useSummary, useValues } from '../../kit/slots.tsx';
import { deviceHref, withQuery } from '../../routes.ts';
import { useServices, useTitle } from '../../state/hooks.ts';
import { useSensor } from '../../state/sensor.ts';
import { useStale } from '../../state/verdict.ts';
import { SensorMissing, SensorTitle } from './sensor-title.tsx';
import { SignalOptions } from './signal-options.tsx';
import './sensor.css';
import type { Edges } from '../../chart/options.ts';
import type { Shape } from '../../chart/shape.ts';
import type { Window } from '../../chart/window.ts';
import type { SignalSubject } from '../../feature.ts';

export function SensorView({ device, sensor }: { device: string; sensor: string }) {
  const { data, missing, item, recent, problem, slow, reload } = useSensor(device, sensor);
  const stale = useStale();
  const extent = useExtent(data);
  const Overview = useOverview();
  const Values = useValues();
  const Summary = useSummary();
  const time = useWindow(item?.ts ? Date.parse(item.ts) : null, extent?.from);
  const { window, bounds } = time;
  const intervalMs = data?.interval_ms ?? null;
  const series = useSeries(data, window, pointsFor(lengthOf(window), innerWidth, intervalMs));
  const [edges, onPlot] = useEdges();
  const chart = useRef<HTMLElement | null>(null);
  const name = item?.name ?? sensor;
  const deviceName = item?.device ?? device;
  const type = item?.type ?? null;
  const unit = item?.unit ?? null;
  const { presented, sent, shape } = usePresented(series.shape, { name, type, unit }, window);
  const { scale, states, isRate } = presented;
  const valueScale = isRate || states ? null : scale;
  const parts = useParts(data, deviceName, time, { sent, unit, scale: valueScale });
  const isRead = shape.ts.length > 0 || (!series.loading && !series.problem);
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
      {missing ? (
        <SensorMissing sensor={sensor} device={device} />
      ) : (
        <>
          <SensorTitle label={data?.label ?? null} {...{ name, item, recent, intervalMs, stale }} />
          {(slow || series.slow) && <SlowLine />}
          <section
            class="panel chart-panel"
            ref={chart}
            aria-label="Chart"
            aria-busy={series.loading}
            data-stale={stale !== null && window.live}
          >
            <WindowBar {...time} />
            {series.problem && <ProblemLine problem={series.problem} onRetry={series.reload} />}
            <SignalChart
              label={`${name} over time${Values ? '; a table on this page has the same figures' : ''}`}
              {...{ type, intervalMs, window, bounds, states, onPlot }}
              plugins={parts.plugins}
              unit={scale.unit}
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
            {parts.notes}
            {Overview && extent && (
              <Overview {...{ extent, type, window, bounds, edges }} onWindow={time.change} />
            )}
            <ChartActions
              name={`${deviceName} ${name}`}
              lines={() => [{ device: deviceName, sensor: name, unit: scale.unit, shape }]}
              chart={chart}
              samples={data && { ...data, range: time.settled }}
            />
            {Summary && <Summary {...{ shape, states, isRead }} unit={scale.unit} />}
            <div class="chart-foot">
              {parts.feet}
              <Slot name="sensorButton" device={deviceName} sensor={name} />
            </div>
          </section>
          {parts.panels}
          {data && Values && (
            <Values
              sensor={data}
              window={time.settled}
              {...{ shape, states }}
              unit={scale.unit}
              samples={presented.values}
              scale={valueScale}
            />
          )}
        </>
      )}
    </>
  );
}

/** Keeps the drawn form of the signal. `sent`: samples in the window as sent; `shape`: the same in the chosen unit, or as rate */
function usePresented(sent: Shape, { name, type, unit }: Parameters<typeof present>[1], window: Window) {
  const { preferences, router } = useServices();
  const { units } = preferences.choice.value;
  const asRate = router.place.value.query.get('as') === 'rate';
  const presented = useMemo(
    () => present(sent, { name, type, unit }, { choices: units, asRate }),
    [sent, name, type, unit, units, asRate],
  );
  const sentInWindow = useMemo(() => inWindow(sent, window), [sent, window.from, window.to]);
  const shape = useMemo(() => inWindow(presented.shape, window), [presented, window.from, window.to]);
  return { presented, sent: sentInWindow, shape };
}

function useParts(
  data: ReturnType<typeof useSensor>['data'],
  deviceName: string,
  { window, settled }: Pick<ReturnType<typeof useWindow>, 'window' | 'settled'>,
  signal: SignalSubject,
) {
  const parts = useChartParts({
    devices: data ? [data.device_id] : [],
    sensor: data,
    device: data && { id: data.device_id, name: deviceName },
    range: settled,
    at: window.to,
    signal: data && signal,
  });
  const lists = parts.map(({ plugins }) => plugins);
  const plugins = useMemo(() => lists.flat(), lists);
  return {
    plugins,
    notes: parts.map(({ note }) => note),
    feet: parts.map(({ foot }) => foot),
    panels: data && parts.map(({ panel }) => panel),
  };
}

const inWindow = (shape: Shape, { from, to }: { from: number; to: number }) =>
  within(shape, { from, to: to + 1 });

/** Keeps the position of the plot in the chart, so that the overview strip aligns with the plot. */
function useEdges(): [Edges | null, (next: Edges) => void] {
  const [edges, setEdges] = useState<Edges | null>(null);
  const onPlot = useCallback(
    (next: Edges) => setEdges((now) => (now?.left === next.left && now.right === next.right ? now : next)),
    [],
  );
  return [edges, onPlot];
}

/** Share of a window that lies after the newest sample, if the window moves to this sample. */
const ROOM = 0.1;

function QuietRange({ loading, newest }: { loading: boolean; newest: string | null }) {
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

/** @returns parameters of a window of equal length that contains the newest sample (epoch ms) */
function around(query: URLSearchParams, newest: number): Record<string, string | null> {
  const length = lengthOf(readWindow(query, newest));
  const to = newest + Math.ceil(length * ROOM);
  return writeWindow({ live: false, from: to - length, to });
}
