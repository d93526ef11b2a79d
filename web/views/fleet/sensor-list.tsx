import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../../api/request.ts';
import type { LatestItem } from '../../api/types.ts';
import {
  FilterField,
  ListSwitch,
  Pager,
  useFilter,
  useNumberedPages,
  usePages,
} from '../../kit/list-controls.tsx';
import { EmptyFleet, NoMatch, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { SENSOR_COLUMNS, SensorTable } from '../../kit/sensor-table.tsx';
import { withQuery } from '../../routes.ts';
import { useSeen, useServices } from '../../state/hooks.ts';
import type { Sorting } from '../../state/lists.ts';
import {
  isFiltered,
  PAGE_ROWS,
  rowsOf,
  sortingOf,
  UNSORTED,
  useHeldSensors,
  useLatestPage,
} from '../../state/lists.ts';
import type { Live } from '../../state/live.ts';
import { useTails } from '../../state/sensor.ts';

/** If the browser holds the whole fleet, the list is sorted over all pages. Otherwise it comes from the API in the order of the database. */
export function SensorList() {
  const { live, router } = useServices();
  const place = router.place.value;
  const { query } = place;
  const sorting = sortingOf(query, SENSOR_COLUMNS);
  const held = useHeldSensors(query, sorting);
  const isPaged = held.state === 'paged';
  const { data, problem, loading, slow, reload } = useLatestPage(query, isPaged);
  const cursor = query.get('cursor');
  const numbered = useNumberedPages({
    number: held.page?.number ?? 1,
    total: held.page?.total ?? 0,
    rows: PAGE_ROWS,
    top: 'sensors',
  });
  const walked = usePages({ next: loading ? undefined : data?.next, top: 'sensors' });
  const items = isPaged ? rowsOf(data, loading) : (held.page?.items ?? null);
  const isWhole = !isPaged || (cursor === null && data?.next === null);
  const section = useRef<HTMLElement | null>(null);
  // Recent values are read only when the list becomes visible, because most users never scroll below the wall.
  useTails(useSeen(section, HEAD_PX, items !== null) ? items : null);
  useNewcomers(live, isPaged && items?.length === 0 && !isFiltered(query), reload);

  return (
    <section id="sensors" class="panel" aria-label="Latest values" ref={section}>
      <div class="list-head">
        <ListSwitch />
      </div>
      {isPaged && slow && <SlowLine />}
      <Rows
        items={items}
        isPaged={isPaged}
        busy={isPaged && loading}
        problem={isPaged ? problem : null}
        onRetry={problem?.code === 'bad_cursor' ? walked.onFirst : reload}
        sorting={isWhole ? sorting : UNSORTED}
        pager={
          isPaged ? (
            <Pager what="sensor" isUnordered={!isWhole} shown={items?.length ?? null} {...walked} />
          ) : (
            <Pager what="sensor" shown={items?.length ?? null} {...numbered} />
          )
        }
      />
    </section>
  );
}

/** Visible height of the list in px from which its rows count as seen, and their recent values are read. */
const HEAD_PX = 120;

function Rows({
  items,
  isPaged,
  busy,
  problem,
  onRetry,
  sorting,
  pager,
}: {
  items: LatestItem[] | null;
  isPaged: boolean;
  busy: boolean;
  problem: Problem | null;
  onRetry: () => void;
  sorting: Sorting;
  pager: ComponentChildren;
}) {
  const { router } = useServices();
  const place = router.place.value;
  const isCursor = place.query.get('cursor') !== null;
  if (problem) return <ProblemNotice problem={problem} onRetry={onRetry} />;
  if (items?.length === 0 && !isFiltered(place.query) && !isCursor) return <EmptyFleet />;
  return (
    <>
      {items?.length === 0 ? (
        <NoMatch href={place.path} byBeginning={isPaged} />
      ) : (
        <SensorTable
          caption="Latest value of every sensor"
          items={items}
          sorting={sorting}
          busy={busy}
          expected={PAGE_ROWS}
          filterHref={(filter: Record<string, string>) =>
            withQuery(place, { ...filter, cursor: null, page: null })
          }
        />
      )}
      {(items === null || items.length > 0 || isCursor) && pager}
    </>
  );
}

function useNewcomers(live: Live, waiting: boolean, reload: () => void) {
  useEffect(() => (waiting ? live.watch(reload) : undefined), [live, waiting, reload]);
}

/** @param props `isPaged`: whether the list comes from the API, which finds names only by their beginning */
export function SensorFilters({ isPaged }: { isPaged: boolean }) {
  const { router, vocabulary } = useServices();
  const { query } = router.place.value;
  const { types, sites } = vocabulary.words.value;
  const set = { name: useFilter('name'), type: useFilter('type'), site: useFilter('site') };

  return (
    <form class="filters" role="search" onSubmit={(event: Event) => event.preventDefault()}>
      <FilterField
        label="Name"
        placeholder={isPaged ? 'sensor begins with' : 'sensor or device'}
        value={query.get('name') ?? ''}
        onChange={set.name}
      />
      <FilterField
        label="Type"
        placeholder="any"
        value={query.get('type') ?? ''}
        options={types}
        onChange={set.type}
      />
      <FilterField
        label="Site"
        placeholder="any"
        value={query.get('site') ?? ''}
        options={sites}
        onChange={set.site}
      />
      {isFiltered(query) && (
        <a class="button quiet-button" href="/">
          Clear filters
        </a>
      )}
    </form>
  );
}
