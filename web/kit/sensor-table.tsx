import { useCallback, useMemo } from 'preact/hooks';
import { keyOf } from '../api/stream/index.ts';
import { hueOf, NOTHING } from '../format.ts';
import { deviceHref, itemHref } from '../routes.ts';
import { useChanges, useServices } from '../state/hooks.ts';
import { sorted } from '../state/lists.ts';
import { useStale } from '../state/verdict.ts';
import { Age, Sparkline, TypeDot, Value } from './figure.tsx';
import { SortHeader } from './list-controls.tsx';
import { useSensorActions } from './slots.tsx';
import './tables.css';
import type { LatestItem } from '../api/types.ts';
import type { Sorting } from '../state/lists.ts';

/** The value by which each column sorts a sensor, by name of the column. */
const SORT_VALUES: Record<string, (item: LatestItem) => string | number | null> = {
  device: ({ device, device_id }) => device ?? device_id,
  name: ({ name, sensor_id }) => name ?? sensor_id,
  type: ({ type }) => type,
  site: ({ site }) => site,
  value: ({ value }) => value,
  age: ({ ts }) => (ts === null ? null : -Date.parse(ts)),
};
export const SENSOR_COLUMNS = Object.keys(SORT_VALUES);
/** The columns by which the sensors of one device can be sorted: all columns but the device. */
export const COLUMNS_OF_DEVICE = SENSOR_COLUMNS.slice(1);

/** Renders a table of sensors with their newest values. Rows keep the order of the first drawing, although values change. */
export function SensorTable(props: {
  /** name of the table for screen readers, not shown */
  caption: string;
  /** null: not known yet */
  items: LatestItem[] | null;
  /** sorting of the items, or of all pages; without a column, the items stay in the order of the API */
  sorting: Sorting;
  /** whether the next page is being read */
  busy?: boolean;
  /** whether all sensors belong to one device; the rows then do not name the device */
  ofDevice?: boolean;
  /** number of placeholder rows until the items are known */
  expected?: number;
  filterHref?: (filter: { type?: string; site?: string }) => string;
}) {
  const { caption, items, sorting, busy = false, ofDevice = false, expected = 10, filterHref } = props;
  const isStale = useStale() !== null;
  const head = (by: string, label: string, name?: string) => (
    <SortHeader label={label} by={by} sorting={sorting} class={name} />
  );
  return (
    <table class="sensors" data-of-device={ofDevice} data-stale={isStale} aria-busy={busy}>
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
          <ActionHeads />
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

function EmptyRow({ ofDevice }: { ofDevice: boolean }) {
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
      {useSensorActions().map(({ label }) => (
        <td key={label} class="col-action" />
      ))}
    </tr>
  );
}

/** Renders the head of a column for each action on a sensor. */
export const ActionHeads = () =>
  useSensorActions().map(({ label }) => (
    <th key={label} scope="col" class="col-action">
      <span class="visually-hidden">{label}</span>
    </th>
  ));

const ActionCells = ({ item }: { item: LatestItem }) =>
  useSensorActions().map(({ label, Button }) => (
    <td key={label} class="col-action">
      <Button item={item} />
    </td>
  ));

/** Minimum time span of a sparkline in ms, so that all rows begin with equal time scales. */
const LEAST_SPAN_MS = 60_000;

/** Renders one sensor with its newest value. A new value redraws only this row. */
function SensorRow({
  item,
  ofDevice = false,
  filterHref,
}: {
  /** the sensor in the form in which the page read it */
  item: LatestItem;
  /** whether the page already names the device and its site */
  ofDevice?: boolean;
  /** returns the address that filters by type or site */
  filterHref?: (filter: { type?: string; site?: string }) => string;
}) {
  const { live } = useServices();
  const key = keyOf(item);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const { item: now, recent } = live.sensor(key) ?? { item, recent: [] };
  const device = now.device ?? now.device_id;
  // A link costs a hash for each name, and each new value redraws the row. So the links are computed once.
  const links = useMemo(
    () => ({ sensor: itemHref(now), device: deviceHref(now.device_id, now.device) }),
    [now.device_id, now.sensor_id, now.device, now.name],
  );

  return (
    <tr>
      <th scope="row">
        <a class="row-link" href={links.sensor}>
          <TypeDot type={now.type} />
          {now.name ?? now.sensor_id}
        </a>
        {item.label && <span class="row-label">{item.label}</span>}
        {!ofDevice && <span class="under">{device}</span>}
      </th>
      {!ofDevice && (
        <td class="col-device">
          <a href={links.device}>{device}</a>
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
        <Age ts={now.ts} intervalMs={now.interval_ms} />
      </td>
      <ActionCells item={now} />
    </tr>
  );
}

/** @returns time span of the recent values in ms */
const spanOf = (recent: { ts: number }[]): number =>
  Math.max(LEAST_SPAN_MS, (recent.at(-1)?.ts ?? 0) - (recent[0]?.ts ?? 0));

function FilterLink({ text, href }: { text: string | null; href?: string | null }) {
  if (!text) return <span class="quiet">{NOTHING}</span>;
  return href ? (
    <a href={href} title={`Only ${text}`}>
      {text}
    </a>
  ) : (
    text
  );
}
