import { html } from 'htm/preact';
import { useCallback, useEffect } from 'preact/hooks';
import { useObservable, useServices } from '../state/hooks.js';
import { FILTERS, PAGE_ROWS, useLatestPage } from '../state/lists.js';
import { withQuery } from '../state/router.js';
import { useTails } from '../state/sensor.js';
import { FilterField, ListSwitch } from './list-controls.js';
import { EmptyFleet, NoMatch, ProblemNotice, SlowLine } from './notice.js';
import { Pager, usePages } from './pager.js';
import { SensorTable } from './sensor-table.js';

/** @import { Live } from '../state/live.js' */

/** All sensors page by page, live. */
export function SensorList() {
  const { live, router } = useServices();
  const place = useObservable(router.place);
  const { data, problem, loading, slow, reload } = useLatestPage(place.query);
  const pages = usePages({ next: loading ? undefined : data?.next, top: 'sensors' });
  const filtered = FILTERS.some((name) => place.query.has(name));
  const cursor = place.query.get('cursor');
  const hasPages = !problem && (data === null || data.items.length > 0 || cursor !== null);
  useTails(data?.items ?? null);
  useNewcomers(live, data?.items.length === 0 && !filtered, reload);

  return html`
    <section id="sensors" class="panel" aria-label="Latest values">
      <div class="list-head"><${ListSwitch} /><${FleetFilters} /></div>
      ${slow && html`<${SlowLine} />`}
      ${
        problem
          ? html`<${ProblemNotice}
            problem=${problem}
            onRetry=${problem.code === 'bad_cursor' ? pages.onFirst : reload}
          />`
          : data?.items.length === 0
            ? filtered || cursor
              ? html`<${NoMatch} href=${place.path} />`
              : html`<${EmptyFleet} />`
            : html`<${SensorTable}
              caption="Latest value of every sensor"
              items=${data?.items ?? null}
              busy=${loading}
              expected=${PAGE_ROWS}
              filterHref=${(/** @type {Record<string, string>} */ filter) => withQuery(place, { ...filter, cursor: null })}
            />`
      }
      ${hasPages && html`<${Pager} what="sensor" isSorted shown=${data?.items.length ?? 0} ...${pages} />`}
    </section>
  `;
}

/**
 * An empty fleet waits for its first sensor, and shows it as it comes.
 *
 * @param {Live} live
 * @param {boolean} waiting
 * @param {() => void} reload
 */
function useNewcomers(live, waiting, reload) {
  useEffect(() => (waiting ? live.watch(reload) : undefined), [live, waiting, reload]);
}

/** Filters of the list of sensors. The address keeps them. */
function FleetFilters() {
  const { router, vocabulary } = useServices();
  const { query } = useObservable(router.place);
  const { types, sites } = useObservable(vocabulary);
  const set = {
    name: useFilter('name'),
    type: useFilter('type'),
    site: useFilter('site'),
  };
  const filtered = FILTERS.some((name) => query.has(name));

  return html`
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${FilterField}
        label="Name"
        placeholder="begins with"
        value=${query.get('name') ?? ''}
        onChange=${set.name}
      />
      <${FilterField}
        label="Type"
        placeholder="any"
        value=${query.get('type') ?? ''}
        options=${types}
        onChange=${set.type}
      />
      <${FilterField}
        label="Site"
        placeholder="any"
        value=${query.get('site') ?? ''}
        options=${sites}
        onChange=${set.site}
      />
      ${filtered && html`<a class="button quiet-button" href="/">Clear filters</a>`}
    </form>
  `;
}

/** @param {string} name @returns {(value: string) => void} another filter begins at its first page */
function useFilter(name) {
  const { router } = useServices();
  return useCallback(
    (value) => {
      if (value === (router.place.get().query.get(name) ?? '')) return;
      router.changeQuery({ [name]: value, cursor: null });
    },
    [router, name],
  );
}
