import { useCallback } from 'preact/hooks';
import { hueOf, NOTHING } from '../format.js';
import { deviceHref, itemHref } from '../routes.js';
import { useChanges, useServices } from '../state/hooks.js';
import { sorted } from '../state/lists.js';
import { keyOf } from '../state/live.js';
import { CompareButton } from './comparison.jsx';
import { Sparkline } from './figure.jsx';
import { SortHeader } from './list-controls.jsx';
import { Age, TypeDot, Value } from './value.jsx';
import '../styles/tables.css';

/** @import { LatestItem } from '../api/types.js' */
/** @import { Sorting } from '../state/lists.js' */

/** The sort value of each column. @type {Record<string, (item: LatestItem) => string | number | null>} */
const SORT_VALUES = {
  device: ({ device, device_id }) => device ?? device_id,
  name: ({ name, sensor_id }) => name ?? sensor_id,
  type: ({ type }) => type,
  site: ({ site }) => site,
  value: ({ value }) => value,
  age: ({ ts }) => (ts === null ? null : -Date.parse(ts)),
};
export const SENSOR_COLUMNS = Object.keys(SORT_VALUES);
/** The same for sensors of one device. */
export const COLUMNS_OF_DEVICE = SENSOR_COLUMNS.slice(1);

/**
 * Sensors and their newest values, one a row; sorted as they stood when the page came, so that rows keep their places while values change.
 *
 * @param {object} props
 * @param {string} props.caption said, not shown
 * @param {LatestItem[] | null} props.items null: not known yet
 * @param {Sorting} props.sorting of the items, or of all pages that they are one of; by nothing: they stand as they came
 * @param {boolean} [props.busy] another page is on its way
 * @param {boolean} [props.ofDevice] all of one device, which need not be said in each row
 * @param {number} [props.expected] rows to keep room for until the items are there
 * @param {(filter: { type?: string, site?: string }) => string} [props.filterHref]
 */
export function SensorTable(props) {
  const { caption, items, sorting, busy = false, ofDevice = false, expected = 10, filterHref } = props;
  /** @param {string} by @param {string} label @param {string} [name] */
  const head = (by, label, name) => <SortHeader label={label} by={by} sorting={sorting} class={name} />;
  return (
    <table class="sensors" data-of-device={ofDevice} aria-busy={busy}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {head('name', 'Sensor')}
          {!ofDevice && head('device', 'Device', 'col-device')}
          {head('type', 'Type', 'col-type')}
          {!ofDevice && head('site', 'Site', 'col-site')}
          <th scope="col" class="col-spark">
            Lately
          </th>
          {head('value', 'Value', 'col-value')}
          {head('age', 'Age', 'col-age')}
          <th scope="col" class="col-compare">
            <span class="visually-hidden">Compare</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items
          ? sorted(items, SORT_VALUES[sorting.by] ?? (() => null), sorting.down).map((item) => (
              <SensorRow key={keyOf(item)} item={item} ofDevice={ofDevice} filterHref={filterHref} />
            ))
          : Array.from({ length: expected }, (_, index) => <EmptyRow key={index} ofDevice={ofDevice} />)}
      </tbody>
    </table>
  );
}

/** @param {{ ofDevice: boolean }} props */
function EmptyRow({ ofDevice }) {
  return (
    <tr class="waiting" aria-hidden="true">
      <td>
        <span class="bar bar-long" />
      </td>
      {!ofDevice && (
        <td class="col-device">
          <span class="bar" />
        </td>
      )}
      <td class="col-type">
        <span class="bar" />
      </td>
      {!ofDevice && (
        <td class="col-site">
          <span class="bar" />
        </td>
      )}
      <td class="col-spark" />
      <td class="col-value">
        <span class="bar bar-short" />
      </td>
      <td class="col-age" />
      <td class="col-compare" />
    </tr>
  );
}

/** A sparkline is this wide at least: all rows begin with the same scale of time. */
const LEAST_SPAN_MS = 60_000;

/**
 * One sensor with its newest value. A new value redraws this row alone.
 *
 * @param {object} props
 * @param {LatestItem} props.item as the page gave it
 * @param {boolean} [props.ofDevice] its device and site are said already
 * @param {((filter: { type?: string, site?: string }) => string)} [props.filterHref] where a type or site leads
 */
function SensorRow({ item, ofDevice = false, filterHref }) {
  const { live } = useServices();
  const key = keyOf(item);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const { item: now, recent } = live.sensor(key) ?? { item, recent: [] };
  const device = now.device ?? now.device_id;

  return (
    <tr>
      <th scope="row">
        <a class="row-link" href={itemHref(now)}>
          <TypeDot type={now.type} />
          {now.name ?? now.sensor_id}
        </a>
        {item.label && <span class="row-label">{item.label}</span>}
        {!ofDevice && <span class="under">{device}</span>}
      </th>
      {!ofDevice && (
        <td class="col-device">
          <a href={deviceHref(now.device_id, now.device)}>{device}</a>
        </td>
      )}
      <td class="col-type">
        <FilterLink text={now.type} href={now.type && filterHref?.({ type: now.type })} />
      </td>
      {!ofDevice && (
        <td class="col-site">
          <FilterLink text={now.site} href={now.site && filterHref?.({ site: now.site })} />
        </td>
      )}
      <td class={`col-spark hue-${hueOf(now.type)}`}>
        <Sparkline points={recent.map(({ ts, value }) => ({ x: ts, y: value }))} span={spanOf(recent)} />
      </td>
      <td class="col-value">
        <Value {...now} recent={recent} decimals={live.decimals(now)} />
      </td>
      <td class="col-age">
        <Age ts={now.ts} />
      </td>
      <td class="col-compare">
        <CompareButton item={now} />
      </td>
    </tr>
  );
}

/** @param {{ ts: number }[]} recent @returns {number} ms */
const spanOf = (recent) => Math.max(LEAST_SPAN_MS, (recent.at(-1)?.ts ?? 0) - (recent[0]?.ts ?? 0));

/** @param {{ text: string | null, href?: string | null }} props */
function FilterLink({ text, href }) {
  if (!text) return <span class="quiet">{NOTHING}</span>;
  return href ? (
    <a href={href} title={`Only ${text}`}>
      {text}
    </a>
  ) : (
    text
  );
}
