import { html } from 'htm/preact';
import { useCallback, useMemo, useRef } from 'preact/hooks';
import { inOneLine, pointWords } from '../chart/point-words.js';
import { pointsFor } from '../chart/reader.js';
import { readingAt } from '../chart/reading.js';
import { within } from '../chart/shape.js';
import { TimeChart } from '../chart/time-chart.js';
import { useSeries } from '../chart/use-series.js';
import { lengthOf } from '../chart/window.js';
import { formatNumber, formatUnit, hueOf, NOTHING } from '../format.js';
import { sensorHref } from '../routes.js';
import { useChanges, useObservable, useParts } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { useVisible } from '../state/use-visible.js';
import { Age } from './age.js';
import { REACH, signalPlugin } from './linked-plugins.js';
import { TypeDot } from './type-name.js';
import { Value } from './value.js';

/** @import { LatestItem } from '../api/types.js' */
/** @import { Shape } from '../chart/shape.js' */
/** @import { useWindow } from '../chart/use-window.js' */
/** @import { Window } from '../chart/window.js' */
/** @import { Observable } from '../state/observable.js' */

/**
 * The signal of one sensor among others of its device; read and drawn while it is in sight.
 *
 * @param {object} props
 * @param {LatestItem} props.item
 * @param {number | null} props.intervalMs between two samples, as the device told it
 * @param {ReturnType<typeof useWindow>} props.time
 * @param {string} props.cursorKey
 * @param {Observable<number | null>} props.cursor epoch ms
 * @param {string} props.describedBy
 */
export function SignalRow(props) {
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
  const { preferences } = useParts();
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
  <div class="signal-words">
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
  const { live } = useParts();
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
