import { useCallback, useMemo } from 'preact/hooks';
import type { FleetInfo } from '../api/types.ts';
import { formatCount } from '../format.ts';
import { withQuery } from '../routes.ts';
import { matchingDevices, pageOf } from '../state/held-lists.ts';
import { useServices } from '../state/hooks.ts';
import { DEVICE_FILTERS, PAGE_ROWS, sorted, sortingOf, UNSORTED, useDevices } from '../state/lists.ts';
import { useMay } from '../state/session.ts';
import { Choice } from './controls.tsx';
import { DEVICE_COLUMNS, DeviceTable, useSortValue } from './device-table.tsx';
import { FirstSteps } from './first-steps.tsx';
import { FilterField, ListSwitch, Pager, useNumberedPages, usePages } from './list-controls.tsx';
import { NoDevice, ProblemNotice, SlowLine } from './notice.tsx';

/**
 * All devices, page by page. Up to some thousand of them are read as a whole and sorted over all pages.
 *
 * @param props the API's count
 */
export function DeviceList({ fleet }: { fleet: FleetInfo | null }) {
  const { router } = useServices();
  const place = router.place.value;
  const { query } = place;
  const mayImport = useMay('ingest');
  const total = fleet && fleet.devices.online + fleet.devices.offline;
  const { data, problem, loading, slow, reload, isHeld } = useDevices(query, total);
  const sorting = sortingOf(query, DEVICE_COLUMNS);
  const sortValue = useSortValue(sorting.by);
  const page = useMemo(() => {
    if (!data || !isHeld) return null;
    return pageOf(sorted(matchingDevices(data.items, query), sortValue, sorting.down), query);
  }, [data, isHeld, query]);
  const numbered = useNumberedPages({
    number: page?.number ?? 1,
    total: page?.total ?? 0,
    rows: PAGE_ROWS,
    top: 'devices',
  });
  const walked = usePages({ next: loading ? undefined : data?.next, top: 'devices' });
  const cursor = query.get('cursor');
  const isPart = (!isHeld && cursor !== null) || (data !== null && data.next !== null);
  const narrowed = (!isHeld && cursor !== null) || DEVICE_FILTERS.some((name) => query.has(name));
  const items = isHeld ? (page?.items ?? null) : (data?.items ?? null);

  return (
    <>
      <FlashMessage />
      <section id="devices" class="panel" aria-label="Devices">
        <div class="list-head">
          <ListSwitch />
          <DeviceFilters fleet={fleet} isHeld={isHeld} />
          {mayImport && (
            <a class="button" href="/import">
              Import a file …
            </a>
          )}
        </div>
        {slow && <SlowLine />}
        {problem ? (
          <ProblemNotice
            problem={problem}
            onRetry={problem.code === 'bad_cursor' ? walked.onFirst : reload}
          />
        ) : items?.length === 0 ? (
          narrowed ? (
            <NoDevice byBeginning={!isHeld} />
          ) : (
            <FirstSteps />
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
            shown={items?.length ?? 0}
            {...(isHeld ? numbered : walked)}
          />
        )}
      </section>
    </>
  );
}

/**
 * Filters of the list of devices. The address keeps them.
 *
 * @param props `fleet`: the API's count; `isHeld`: any part of a name is found
 */
function DeviceFilters({ fleet, isHeld }: { fleet: FleetInfo | null; isHeld: boolean }) {
  const { router, vocabulary } = useServices();
  const { query } = router.place.value;
  const { sites } = vocabulary.words.value;
  const set = useCallback(
    (name: string, value: string) => {
      if (value === (router.place.peek().query.get(name) ?? '')) return;
      router.changeQuery({ [name]: value, cursor: null, page: null });
    },
    [router],
  );
  const setName = useCallback((value: string) => set('name', value), [set]);
  const setSite = useCallback((value: string) => set('site', value), [set]);
  // The counts cover the whole fleet.
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
        ]}
        value={query.get('state') ?? ''}
        onChange={(value: string) => set('state', value)}
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
      {DEVICE_FILTERS.some((name) => query.has(name)) && (
        <a class="button quiet-button" href="/?show=devices">
          Clear filters
        </a>
      )}
    </form>
  );
}

/** Confirms the last action of the page before, until it is dismissed. */
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
