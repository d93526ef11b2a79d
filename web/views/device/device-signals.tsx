import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createLimit } from '../../api/client.ts';
import { problemWords } from '../../api/request.ts';
import { keyOf } from '../../api/stream/index.ts';
import { createGutter, REACH } from '../../chart/options.ts';
import { pointsFor } from '../../chart/reader.ts';
import { inOneLine, pointWords, present, readingAt, stateAt } from '../../chart/readout.ts';
import { emptyShape, within } from '../../chart/shape.ts';
import { TimeChart, useStatePlugins } from '../../chart/signal-chart.tsx';
import { useSeries } from '../../chart/use-series.ts';
import { lengthOf, useWindow } from '../../chart/window.ts';
import { WindowBar } from '../../chart/window-bar.tsx';
import type { DeviceParts, DrawnLine, TimeAxisProps } from '../../feature.ts';
import { formatNumber, formatUnit, hueOf } from '../../format.ts';
import { Age, TypeDot, Value } from '../../kit/figure.tsx';
import { useIsOutage } from '../../kit/notice.tsx';
import { ChartActions, useChartParts } from '../../kit/slots.tsx';
import { itemHref } from '../../routes.ts';
import { byUnit } from '../../state/device.ts';
import { ServicesContext, useChanges, useServices } from '../../state/hooks.ts';
import { axisPlugin, signalPlugin } from './chart-plugins.ts';
import './device.css';
import type { ReadonlySignal } from '@preact/signals';
import type { DeviceInfo, LatestItem } from '../../api/types.ts';
import type { Gutter } from '../../chart/options.ts';
import type { Presented } from '../../chart/readout.ts';
import type { Window } from '../../chart/window.ts';
import type { Stale } from '../../state/verdict.ts';

/** Maximum number of concurrent requests of charts. A browser opens at most six connections to a host, for all tabs together. */
const AT_ONCE = 3;
const HINT = 'device-signals-hint';

export function DeviceSignals({
  device,
  items,
  stale,
  axis = TimeAxis,
}: {
  device: DeviceInfo;
  items: LatestItem[];
  stale: Stale | null;
  axis?: DeviceParts['axis'];
}) {
  const services = useServices();
  const careful = useMemo(
    () => ({ ...services, client: services.client.withLimit(createLimit(AT_ONCE)) }),
    [services],
  );
  const cursor = useSignal<number | null>(null);
  const time = useWindow(newestSample(items));
  const parts = useChartParts({
    devices: [device.device_id],
    sensor: null,
    device: { id: device.device_id, name: device.name ?? device.device_id },
    range: time.settled,
    at: time.window.to,
  });
  const lists = parts.map(({ plugins }) => plugins);
  const gutter = useMemo(createGutter, []);
  const plugins = useMemo(() => {
    const onCursor = (ts: number | null) => {
      cursor.value = ts;
    };
    return [axisPlugin(gutter, onCursor), ...lists.flat()];
  }, [cursor, gutter, ...lists]);
  const intervals = useMemo(
    () => new Map(device.sensors.map(({ sensor_id, interval_ms }) => [sensor_id, interval_ms])),
    [device.sensors],
  );
  const panel = useRef<HTMLElement | null>(null);
  const shapes = useRef<Map<string, DrawnLine>>(new Map());
  const { window, settled, bounds, change: onWindow, reset: onReset } = time;
  const linked = {
    window,
    bounds,
    onWindow,
    onReset,
    cursor,
    cursorKey: device.device_id,
    describedBy: HINT,
  };

  return (
    <ServicesContext.Provider value={careful}>
      <section class="panel signals" aria-label="Signals" ref={panel} data-stale={stale !== null}>
        <WindowBar {...time} />
        <p id={HINT} class="visually-hidden">
          The cursor is shared by all of these charts. Keys: arrows walk along the line, plus and minus zoom,
          arrows with Shift pan, 0 goes back.
        </p>
        {axis({ device, stale, settled, plugins, ...linked })}
        {byUnit(items).map((group) => (
          <ul key={group.label} class="signal-group">
            {group.items.map((item) => (
              <SignalRow
                key={item.sensor_id}
                item={item}
                intervalMs={intervals.get(item.sensor_id) ?? null}
                shapes={shapes.current}
                gutter={gutter}
                {...linked}
              />
            ))}
          </ul>
        ))}
        {items.length > 0 && (
          <ChartActions
            name={device.name ?? device.device_id}
            lines={() => [...shapes.current.values()]}
            chart={panel}
          />
        )}
      </section>
      {parts.map(({ panel }) => panel)}
    </ServicesContext.Provider>
  );
}

function newestSample(items: LatestItem[]): number | null {
  const newest = items.reduce((latest, { ts }) => (ts !== null && ts > latest ? ts : latest), '');
  return newest ? Date.parse(newest) : null;
}

/** The time labels of all charts. */
const TimeAxis = (chart: TimeAxisProps) => (
  <div class="signal signal-times">
    <span />
    <TimeChart
      label="Time axis of the charts below"
      shape={NOTHING_DRAWN}
      intervalMs={null}
      onPlace={nothing}
      inWords={() => ''}
      {...chart}
    />
  </div>
);

const NOTHING_DRAWN = emptyShape({ from: 0, to: 0 });

type Linked = Omit<TimeAxisProps, 'device' | 'stale' | 'settled' | 'plugins'>;

/** Renders the chart of one sensor among others of its device. The chart is read and drawn only while it is visible. */
function SignalRow(
  props: Linked & {
    item: LatestItem;
    intervalMs: number | null;
    gutter: Gutter;
    shapes: Map<string, DrawnLine>;
  },
) {
  const { item } = props;
  const row = useRef<HTMLLIElement | null>(null);
  const isVisible = useVisible(row);
  return (
    <li
      ref={row}
      class={`signal hue-${hueOf(item.type)}`}
      data-caption={`${item.name ?? item.sensor_id} ${formatUnit(item.unit)}`.trim()}
    >
      {isVisible ? (
        <Signal {...props} />
      ) : (
        <>
          <Name item={item} />
          <div class="signal-chart" />
        </>
      )}
    </li>
  );
}

function Signal({ item, intervalMs, cursor, gutter, shapes, ...chart }: Parameters<typeof SignalRow>[0]) {
  const { window } = chart;
  const { preferences } = useServices();
  const { zone, units } = preferences.choice.value;
  const series = useSeries(item, window, pointsFor(lengthOf(window), innerWidth, intervalMs));
  const { loading, problem, reload } = series;
  const isOutage = useIsOutage(problem);
  const presented = useMemo(
    () => present(series.shape, item, { choices: units }),
    [series.shape, item, units],
  );
  const { shape, states, scale } = presented;
  const name = item.name ?? item.sensor_id;
  const statePlugins = useStatePlugins(shape, states, intervalMs);
  const plugins = useMemo(() => [signalPlugin(gutter), ...statePlugins], [gutter, statePlugins]);
  const range = { from: window.from, to: window.to + 1 };
  useEffect(() => {
    const names = { device: item.device ?? item.device_id, sensor: name, unit: scale.unit };
    shapes.set(item.sensor_id, { ...names, shape: within(shape, range) });
    return () => void shapes.delete(item.sensor_id);
  });
  const isEmpty = within(shape, range).ts.length === 0;

  return (
    <>
      <Name item={item}>
        <Reading item={item} presented={presented} window={window} cursor={cursor} />
      </Name>
      <div class="signal-chart" aria-busy={loading}>
        <TimeChart
          label={`${name} over time; the table of sensors has its newest value, its own page all of them`}
          shape={shape}
          intervalMs={intervalMs}
          onPlace={nothing}
          inWords={(place: number) => inOneLine(pointWords(shape, place, scale.unit, zone, states))}
          plugins={plugins}
          {...chart}
        />
        {loading && <div class="chart-loading" aria-hidden="true" />}
        {isOutage ? null : problem ? (
          <p class="signal-note small" role="alert">
            {problemWords(problem).title}.{' '}
            <button type="button" class="button" onClick={reload}>
              Try again
            </button>
          </p>
        ) : (
          isEmpty && (
            <p class="signal-note small">{loading ? 'Reading samples…' : 'No samples in this range'}</p>
          )
        )}
      </div>
    </>
  );
}

const nothing = () => {};

const Name = ({ item, children }: { item: LatestItem; children?: ComponentChildren }) => (
  <div class="signal-text">
    <a href={itemHref(item)}>
      <TypeDot type={item.type} />
      {item.name ?? item.sensor_id}
      {item.label && <span class="row-label small">{item.label}</span>}
    </a>
    {children}
  </div>
);

/** Renders the value at the cursor. Without a cursor, the newest value is shown. */
function Reading({
  item,
  presented: { shape, states, scale },
  window,
  cursor,
}: {
  item: LatestItem;
  presented: Presented;
  window: Window;
  cursor: ReadonlySignal<number | null>;
}) {
  const { live } = useServices();
  const key = keyOf(item);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const ts = cursor.value;
  if (ts === null) {
    const { item: now, recent } = live.sensor(key) ?? { item, recent: [] };
    return (
      <p class="signal-value">
        <Value {...now} recent={recent} />
        <Age ts={now.ts} intervalMs={now.interval_ms} />
      </p>
    );
  }
  const reading = readingAt(shape, ts, (REACH / innerWidth) * lengthOf(window));
  if (!reading)
    return (
      <p class="signal-value" data-none="true">
        no sample here
      </p>
    );
  return (
    <p class="signal-value">
      <strong class="signal-reading">
        {states ? stateAt(reading, states) : `${formatNumber(reading.avg)} ${scale.unit}`}
      </strong>
      {!reading.isRaw && !states && (
        <span class="signal-band">
          {formatNumber(reading.min)} to {formatNumber(reading.max)}
        </span>
      )}
    </p>
  );
}

/** Distance of one screen above and below the visible area. Charts within this distance are drawn, before they become visible. */
const MARGIN = '100% 0px';

function useVisible(element: { current: HTMLElement | null }): boolean {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => setVisible(entries.at(-1)?.isIntersecting ?? false),
      {
        rootMargin: MARGIN,
      },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isVisible;
}
