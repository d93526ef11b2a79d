import { html } from 'htm/preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createLimit, withLimit } from '../api/client.js';
import { pointsFor } from '../chart/reader.js';
import { inOneLine, pointWords, readingAt } from '../chart/readout.js';
import { within } from '../chart/shape.js';
import { TimeChart } from '../chart/time-chart.js';
import { useSeries } from '../chart/use-series.js';
import { lengthOf, useWindow } from '../chart/window.js';
import { formatNumber, formatUnit, hueOf, NOTHING } from '../format.js';
import { sensorHref } from '../routes.js';
import { byUnit } from '../state/device.js';
import { ServicesContext, useChanges, useObservable, useServices } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { createObservable } from '../state/observable.js';
import { REACH, signalPlugin } from './chart-plugins.js';
import { EventStrip } from './event-strip.js';
import { Age, TypeDot, Value } from './value.js';
import { WindowBar } from './window-bar.js';

/** @import { DeviceInfo, LatestItem } from '../api/types.js' */
/** @import { Observable } from '../state/observable.js' */
/** @import { Shape } from '../chart/shape.js' */
/** @import { Window } from '../chart/window.js' */

/** Readings of charts that are under way at once: a browser has six connections to a host, all tabs together. */
const AT_ONCE = 3;
const HINT = 'device-signals-hint';

/**
 * The sensors of a device, and what became of it, on one axis of time with one cursor.
 *
 * @param {object} props
 * @param {DeviceInfo} props.device
 * @param {LatestItem[]} props.items its sensors that are shown
 * @param {string | null} props.newestEvent its time
 */
export function DeviceSignals({ device, items, newestEvent }) {
  const services = useServices();
  const careful = useMemo(
    () => ({ ...services, client: withLimit(services.client, createLimit(AT_ONCE)) }),
    [services],
  );
  const cursor = useMemo(() => createObservable(/** @type {number | null} */ (null)), []);
  const time = useWindow(newestSample(items));
  const intervals = useMemo(
    () => new Map(device.sensors.map(({ sensor_id, interval_ms }) => [sensor_id, interval_ms])),
    [device.sensors],
  );
  const linked = { time, cursor, cursorKey: device.device_id, describedBy: HINT };

  return html`
    <${ServicesContext.Provider} value=${careful}>
      <section class="panel signals" aria-label="Signals">
        <${WindowBar} ...${time} />
        <p id=${HINT} class="visually-hidden">
          The cursor is shared by all of these charts. Keys: arrows walk along the line, plus and minus zoom, arrows with Shift
          pan, 0 goes back.
        </p>
        <${EventStrip} device=${device} newest=${newestEvent} ...${linked} />
        ${byUnit(items).map(
          (group) => html`
            <ul key=${group.label} class="signal-group">
              ${group.items.map(
                (item) =>
                  html`<${SignalRow} key=${item.sensor_id} item=${item} intervalMs=${intervals.get(item.sensor_id) ?? null} ...${linked} />`,
              )}
            </ul>
          `,
        )}
      </section>
    <//>
  `;
}

/** @param {LatestItem[]} items @returns {number | null} epoch ms */
function newestSample(items) {
  const newest = items.reduce((latest, { ts }) => (ts !== null && ts > latest ? ts : latest), '');
  return newest ? Date.parse(newest) : null;
}

/**
 * The signal of one sensor among others of its device; read and drawn while it is in sight.
 *
 * @param {object} props
 * @param {LatestItem} props.item
 * @param {number | null} props.intervalMs between two samples, from the device's birth
 * @param {ReturnType<typeof useWindow>} props.time
 * @param {string} props.cursorKey
 * @param {Observable<number | null>} props.cursor epoch ms
 * @param {string} props.describedBy
 */
function SignalRow(props) {
  const { item } = props;
  const row = useRef(/** @type {HTMLElement | null} */ (null));
  const isVisible = useVisible(row);
  return html`
    <li ref=${row} class="signal hue-${hueOf(item.type)}">
      ${isVisible ? html`<${Signal} ...${props} />` : html`<${Name} item=${item} /><div class="signal-chart"></div>`}
    </li>
  `;
}

/** @param {Parameters<typeof SignalRow>[0]} props */
function Signal({ item, intervalMs, time, cursorKey, cursor, describedBy }) {
  const { window, bounds, change, reset } = time;
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const series = useSeries(item, window, pointsFor(lengthOf(window), innerWidth, intervalMs));
  const { shape, loading, problem, reload } = series;
  const plugins = useMemo(() => [signalPlugin()], []);
  const isEmpty = within(shape, { from: window.from, to: window.to + 1 }).ts.length === 0;
  const name = item.name ?? item.sensor_id;

  return html`
    <${Name} item=${item}><${Reading} item=${item} shape=${shape} window=${window} cursor=${cursor} /><//>
    <div class="signal-chart" aria-busy=${loading}>
      <${TimeChart}
        label=${`${name} over time; the table of sensors has its newest value, its own page all of them`}
        shape=${shape}
        intervalMs=${intervalMs}
        window=${window}
        bounds=${bounds}
        onWindow=${change}
        onReset=${reset}
        onPlace=${nothing}
        inWords=${(/** @type {number} */ place) => inOneLine(pointWords(shape, place, item.unit, zone))}
        cursorKey=${cursorKey}
        plugins=${plugins}
        describedBy=${describedBy}
      />
      ${loading && html`<div class="chart-loading" aria-hidden="true"></div>`}
      ${
        problem
          ? html`<p class="signal-note" role="alert">${problem.message}. <button type="button" class="button" onClick=${reload}>Try again</button></p>`
          : isEmpty && !loading && html`<p class="signal-note">No samples in this range</p>`
      }
    </div>
  `;
}

const nothing = () => {};

/** @param {{ item: LatestItem, children?: any }} props */
const Name = ({ item, children }) => html`
  <div class="signal-text">
    <a href=${sensorHref(item.device_id, item.sensor_id)}><${TypeDot} type=${item.type} />${item.name ?? item.sensor_id}</a>
    ${children}
  </div>
`;

/**
 * The value at the cursor; without one, the newest.
 *
 * @param {object} props
 * @param {LatestItem} props.item
 * @param {Shape} props.shape
 * @param {Window} props.window
 * @param {Observable<number | null>} props.cursor
 */
function Reading({ item, shape, window, cursor }) {
  const { live } = useServices();
  const key = keyOf(item);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const ts = useObservable(cursor);
  if (ts === null) {
    const { item: now, recent } = live.sensor(key) ?? { item, recent: [] };
    return html`
      <p class="signal-value">
        <${Value} value=${now.value} unit=${now.unit} ts=${now.ts} recent=${recent} /><${Age} ts=${now.ts} />
      </p>
    `;
  }
  const reading = readingAt(shape, ts, (REACH / innerWidth) * lengthOf(window));
  const unit = formatUnit(item.unit);
  if (!reading) return html`<p class="signal-value" data-none="true">${NOTHING}</p>`;
  return html`
    <p class="signal-value">
      <strong class="signal-reading">${formatNumber(reading.avg)} ${unit}</strong>
      ${!reading.isRaw && html`<span class="signal-band">${formatNumber(reading.min)} to ${formatNumber(reading.max)}</span>`}
    </p>
  `;
}

/** A screen more above and below, so that one seldom sees it come. */
const MARGIN = '100% 0px';

/**
 * @param {{ current: HTMLElement | null }} element
 * @returns {boolean} whether it is in sight, or nearly
 */
function useVisible(element) {
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
