import { useCallback, useMemo } from 'preact/hooks';
import { keyOf } from '../api/stream/index.ts';
import type { LatestItem } from '../api/types.ts';
import { hueOf, NOTHING } from '../format.ts';
import { deviceHref, itemHref } from '../routes.ts';
import { useChanges, useServices } from '../state/hooks.ts';
import type { Sorting } from '../state/lists.ts';
import { sorted } from '../state/lists.ts';
import { useStale } from '../state/verdict.ts';
import { Age, Sparkline, TypeDot, Value } from './figure.tsx';
import { useSensorActions } from './slots.tsx';
import type { Column } from './table.tsx';
import { Table } from './table.tsx';

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

interface Props {
  caption: string;
  items: LatestItem[] | null;
  /** sorting of the items, or of all pages; without a column, the items stay in the order of the API */
  sorting: Sorting;
  busy?: boolean;
  /** whether all sensors belong to one device; the rows then do not name the device */
  ofDevice?: boolean;
  expected?: number;
  filterHref?: (filter: { type?: string; site?: string }) => string;
}

/** Renders a table of sensors with their newest values. Rows keep the order of the first drawing, although values change. */
export function SensorTable(props: Props) {
  const { caption, items, sorting, busy = false, ofDevice = false, expected = 10 } = props;
  const isStale = useStale() !== null;
  const sortValueOf = SORT_VALUES[sorting.by] ?? (() => null);
  return (
    <Table
      class="sensors"
      caption={caption}
      columns={[...columnsOf(props), ...useActionColumns()]}
      rows={items && sorted(items, sortValueOf, sorting.down)}
      keyOf={keyOf}
      useRow={useSensorRow}
      aria-busy={busy}
      data-of-device={ofDevice}
      data-stale={isStale}
      {...{ sorting, expected }}
    />
  );
}

const columnsOf = ({ ofDevice = false, filterHref }: Props): (Column<SensorRow> | false)[] => [
  {
    label: 'Sensor',
    by: 'name',
    isName: true,
    cell: ({ now, item, links, device }) => (
      <>
        <a class="row-link" href={links.sensor}>
          <TypeDot type={now.type} />
          {now.name ?? now.sensor_id}
        </a>
        {item.label && <span class="row-label small">{item.label}</span>}
        {!ofDevice && <span class="under">{device}</span>}
      </>
    ),
  },
  !ofDevice && {
    label: 'Device',
    class: 'col-device',
    by: 'device',
    cell: ({ links, device }) => <a href={links.device}>{device}</a>,
  },
  {
    label: 'Type',
    class: 'col-type',
    by: 'type',
    cell: ({ now: { type } }) => <FilterLink text={type} href={type && filterHref?.({ type })} />,
  },
  !ofDevice && {
    label: 'Site',
    class: 'col-site',
    by: 'site',
    cell: ({ now: { site } }) => <FilterLink text={site} href={site && filterHref?.({ site })} />,
  },
  {
    label: 'Lately',
    class: 'col-spark',
    attributes: ({ now }) => ({ class: `col-spark hue-${hueOf(now.type)}` }),
    cell: ({ recent }) => (
      <Sparkline points={recent.map(({ ts, value }) => ({ x: ts, y: value }))} span={spanOf(recent)} />
    ),
  },
  {
    label: 'Value',
    class: 'col-value',
    by: 'value',
    cell: ({ now, recent, decimals }) => <Value {...now} recent={recent} decimals={decimals} />,
  },
  {
    label: 'Age',
    class: 'col-age',
    by: 'age',
    cell: ({ now }) => <Age ts={now.ts} intervalMs={now.interval_ms} />,
  },
];

const useActionColumns = (): Column<SensorRow>[] =>
  useSensorActions().map(({ label, Button }) => ({
    label,
    class: 'col-action',
    isQuiet: true,
    cell: ({ now }) => <Button item={now} />,
  }));

/** Minimum time span of a sparkline in ms, so that all rows begin with equal time scales. */
const LEAST_SPAN_MS = 60_000;

type SensorRow = ReturnType<typeof useSensorRow>;

/** Follows the newest value of a sensor. A new value redraws only its row. @param item the sensor in the form in which the page read it */
function useSensorRow(item: LatestItem) {
  const { live } = useServices();
  const key = keyOf(item);
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  const { item: now, recent } = live.sensor(key) ?? { item, recent: [] };
  // A link costs a hash for each name, and each new value redraws the row. So the links are computed once.
  const links = useMemo(
    () => ({ sensor: itemHref(now), device: deviceHref(now.device_id, now.device) }),
    [now.device_id, now.sensor_id, now.device, now.name],
  );
  return { item, now, recent, links, device: now.device ?? now.device_id, decimals: live.decimals(now) };
}

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
