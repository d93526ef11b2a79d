import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { DeviceItem, FleetInfo } from '../../api/types.ts';
import { formatCount, NOTHING } from '../../format.ts';
import { Choice } from '../../kit/controls.tsx';
import { DeviceState } from '../../kit/device-title.tsx';
import { Age } from '../../kit/figure.tsx';
import {
  FilterField,
  ListSwitch,
  Pager,
  useFilter,
  useNumberedPages,
  usePages,
} from '../../kit/list-controls.tsx';
import { EmptyFleet, NoDevice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { Slot } from '../../kit/slots.tsx';
import type { Column } from '../../kit/table.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref, withQuery } from '../../routes.ts';
import { lastSeenAt } from '../../state/device.ts';
import { deviceCount } from '../../state/fleet-state.ts';
import { useServices } from '../../state/hooks.ts';
import type { Sorting } from '../../state/lists.ts';
import {
  areHeld,
  DEVICE_FILTERS,
  matchingDevices,
  PAGE_ROWS,
  pageOf,
  rowsOf,
  sorted,
  sortingOf,
  UNSORTED,
  useDevices,
} from '../../state/lists.ts';
import { useStale } from '../../state/verdict.ts';

const isNarrowed = (query: URLSearchParams) => [...DEVICE_FILTERS, 'place'].some((name) => query.has(name));

/** A list of up to some thousand devices is read completely, and sorted over all pages. */
export function DeviceList({ fleet }: { fleet: FleetInfo | null }) {
  const { router, live, clock } = useServices();
  const place = router.place.value;
  const { query } = place;
  // Places are no signal, so the clock draws the list again when they arrive.
  if (query.has('place')) void clock.time.value;
  const structure = live.fleet.structure();
  const total = fleet && deviceCount(fleet);
  const { data, problem, loading, slow, reload, isHeld } = useDevices(query, total);
  const sorting = sortingOf(query, DEVICE_COLUMNS);
  const sortValue = useSortValue(sorting.by);
  const page = useMemo(() => {
    if (!data || !isHeld) return null;
    return pageOf(sorted(matchingDevices(data.items, query, live.fleet), sortValue, sorting.down), query);
  }, [data, isHeld, query, live, structure]);
  const numbered = useNumberedPages({
    number: page?.number ?? 1,
    total: page?.total ?? 0,
    rows: PAGE_ROWS,
    top: 'devices',
  });
  const walked = usePages({ next: loading ? undefined : data?.next, top: 'devices' });
  const cursor = query.get('cursor');
  const isPart = (!isHeld && cursor !== null) || (data !== null && data.next !== null);
  const narrowed = (!isHeld && cursor !== null) || isNarrowed(query);
  const items = isHeld ? (page?.items ?? null) : rowsOf(data, loading);
  const list = useArrival(items !== null || problem !== null);

  return (
    <>
      <FlashMessage />
      <section id="devices" class="panel" aria-label="Devices" ref={list} tabIndex={-1}>
        <div class="list-head">
          <ListSwitch />
          <Slot name="listAction" />
        </div>
        {slow && <SlowLine />}
        <Slot name="deviceNote" />
        {problem ? (
          <ProblemNotice
            problem={problem}
            onRetry={problem.code === 'bad_cursor' ? walked.onFirst : reload}
          />
        ) : items?.length === 0 ? (
          narrowed ? (
            <NoDevice byBeginning={!isHeld} />
          ) : (
            <EmptyFleet />
          )
        ) : (
          <DeviceTable
            items={items}
            sorting={isPart ? UNSORTED : sorting}
            busy={loading}
            expected={PAGE_ROWS}
            siteHref={(site: string) => withQuery(place, { site, cursor: null, page: null })}
          />
        )}
        {!problem && (items === null || items.length > 0 || narrowed) && (
          <Pager
            what="device"
            isUnordered={isPart}
            shown={items?.length ?? null}
            {...(isHeld ? numbered : walked)}
          />
        )}
      </section>
    </>
  );
}

/** Scrolls to the list and focuses it once, because the address names it, and the wall stands above. */
function useArrival(isRead: boolean) {
  const list = useRef<HTMLElement | null>(null);
  const isThere = useRef(false);
  useEffect(() => {
    if (!isRead || isThere.current) return;
    isThere.current = true;
    list.current?.scrollIntoView({ block: 'start' });
    list.current?.focus({ preventScroll: true });
  }, [isRead]);
  return list;
}

export function DeviceFilters({ fleet }: { fleet: FleetInfo | null }) {
  const { router, vocabulary } = useServices();
  const { query } = router.place.value;
  const { sites } = vocabulary.words.value;
  // If the list was read completely, the name filter finds any part of a name. The API finds only the beginning.
  const isHeld = areHeld(fleet && deviceCount(fleet));
  const setState = useFilter('state');
  const setName = useFilter('name');
  const setSite = useFilter('site');
  // The counts cover the whole fleet, so they are hidden if another filter applies.
  const counts = query.has('site') || query.has('name') ? undefined : fleet?.devices;
  const label = (word: string, count: number | undefined) =>
    count === undefined ? word : `${word} ${formatCount(count)}`;

  return (
    <form class="filters" role="search" onSubmit={(event: Event) => event.preventDefault()}>
      <Choice
        legend="State"
        options={[
          { value: '', label: 'All' },
          { value: 'online', label: label('Online', counts?.online) },
          { value: 'offline', label: label('Offline', counts?.offline) },
          { value: 'not_live', label: label('Not live', counts?.not_live) },
        ]}
        value={query.get('state') ?? ''}
        onChange={setState}
      />
      <FilterField
        label="Name"
        placeholder={isHeld ? 'any part' : 'begins with'}
        value={query.get('name') ?? ''}
        onChange={setName}
      />
      <FilterField
        label="Site"
        placeholder="any"
        value={query.get('site') ?? ''}
        options={sites}
        onChange={setSite}
      />
      {isNarrowed(query) && (
        <a class="button quiet-button" href="/?show=devices">
          Clear filters
        </a>
      )}
    </form>
  );
}

/** Renders the message about the last action on the previous page, until the user dismisses it. */
function FlashMessage() {
  const { router } = useServices();
  const { flash, path, query, pageCursors } = router.place.value;
  if (!flash) return null;
  const dismiss = () => router.go(`${path}?${query}`, { replace: true, pageCursors });
  return (
    <div class="flash-message" role="status">
      <p>{flash}</p>
      <button type="button" class="button quiet-button" onClick={dismiss}>
        Dismiss
      </button>
    </div>
  );
}

/** The value by which each column sorts a device, by name of the column. The first column is the default. */
const SORT_VALUES: Record<string, (device: DeviceItem) => string | number | null> = {
  name: ({ name, device_id }) => name ?? device_id,
  site: ({ site }) => site,
  state: ({ state }) => state,
};

const DEVICE_COLUMNS = [...Object.keys(SORT_VALUES), 'sensors', 'last-seen'];

function useSortValue(by: string): (device: DeviceItem) => string | number | null {
  const lastSeenOf = useLastSeen();
  const sensorsOf = useSensorCount();
  if (by === '') return () => null;
  if (by === 'sensors') return sensorsOf;
  return SORT_VALUES[by] ?? ((device) => -Date.parse(lastSeenOf(device) ?? '') || null);
}

function DeviceTable({
  items,
  sorting,
  busy,
  expected,
  siteHref,
}: {
  items: DeviceItem[] | null;
  sorting: Sorting;
  busy: boolean;
  expected: number;
  siteHref: (site: string) => string;
}) {
  const isStale = useStale() !== null;
  const sortValueOf = useSortValue(sorting.by);
  const columns: Column<DeviceItem>[] = [
    { label: 'Device', by: 'name', isName: true, cell: (device) => <DeviceName device={device} /> },
    {
      label: 'Site',
      class: 'col-site',
      by: 'site',
      cell: ({ site }) =>
        site ? (
          <a href={siteHref(site)} title={`Only ${site}`}>
            {site}
          </a>
        ) : (
          <span class="quiet">{NOTHING}</span>
        ),
    },
    {
      label: 'Sensors',
      class: 'col-sensors',
      by: 'sensors',
      cell: (device) => <SensorCount device={device} />,
    },
    {
      label: 'State',
      class: 'col-state',
      by: 'state',
      cell: ({ state }) => <DeviceState state={state} isOld={isStale} />,
    },
    {
      label: 'Last seen',
      class: 'col-last-seen',
      by: 'last-seen',
      cell: (device) => <LastSeen device={device} />,
    },
  ];
  return (
    <Table
      class="devices"
      caption="Devices"
      rows={items && sorted(items, sortValueOf, sorting.down)}
      keyOf={({ device_id }) => device_id}
      aria-busy={busy}
      {...{ columns, sorting, expected }}
    />
  );
}

const DeviceName = ({ device: { device_id, name, site, label, state } }: { device: DeviceItem }) => (
  <>
    <a class="row-link" href={deviceHref(device_id, name)}>
      {name ?? device_id}
    </a>
    {name === null && <span class="quiet nameless"> no name yet</span>}
    {label && <span class="row-label small">{label}</span>}
    <span class="device-marks">
      <Slot name="deviceMark" device={device_id} isOnline={state === 'online'} isFact={false} />
    </span>
    <span class="under">{site}</span>
  </>
);

const SensorCount = ({ device }: { device: DeviceItem }) => {
  const count = useSensorCount()(device);
  return <>{count === null ? NOTHING : formatCount(count)}</>;
};

function useSensorCount(): (device: DeviceItem) => number | null {
  const { live, clock } = useServices();
  return ({ device_id }) => {
    // The clock draws the number again, because a sensor may appear at any time.
    void clock.time.value;
    return live.fleet.devices.get(device_id)?.sensors.length ?? null;
  };
}

function LastSeen({ device }: { device: DeviceItem }) {
  return <Age ts={useLastSeen()(device)} isExpected={device.state !== 'not_live'} />;
}

function useLastSeen(): (device: DeviceItem) => string | null {
  const { live, clock } = useServices();
  return ({ device_id, last_seen }) =>
    lastSeenAt(last_seen, live.fleet.devices.get(device_id)?.sensors ?? [], clock.time.value);
}
