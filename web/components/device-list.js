import { html } from 'htm/preact';
import { useCallback } from 'preact/hooks';
import { formatCount } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';
import { DEVICE_FILTERS, PAGE_ROWS, sortingOf, useDevicePage } from '../state/lists.js';
import { withQuery } from '../state/router.js';
import { Choice } from './choice.js';
import { DEVICE_COLUMNS, DeviceTable } from './device-table.js';
import { FilterField, ListSwitch } from './list-controls.js';
import { EmptyFleet, NoDevice, ProblemNotice, SlowLine } from './notice.js';
import { Pager, usePages } from './pager.js';

/** @import { FleetInfo } from '../api/types.js' */

/**
 * All devices, page by page.
 *
 * @param {{ fleet: FleetInfo | null }} props the API's count
 */
export function DeviceList({ fleet }) {
  const { router } = useServices();
  const place = useObservable(router.place);
  const { data, problem, loading, slow, reload } = useDevicePage(place.query);
  const pages = usePages({ next: loading ? undefined : data?.next, top: 'devices' });
  const cursor = place.query.get('cursor');
  const narrowed = cursor !== null || DEVICE_FILTERS.some((name) => place.query.has(name));

  return html`
    <${FlashMessage} />
    <section id="devices" class="panel" aria-label="Devices">
      <div class="list-head"><${ListSwitch} /><${DeviceFilters} fleet=${fleet} /></div>
      ${slow && html`<${SlowLine} />`}
      ${
        problem
          ? html`<${ProblemNotice}
            problem=${problem}
            onRetry=${problem.code === 'bad_cursor' ? pages.onFirst : reload}
          />`
          : data?.items.length === 0
            ? narrowed
              ? html`<${NoDevice} />`
              : html`<${EmptyFleet} />`
            : html`<${DeviceTable}
              items=${data?.items ?? null}
              sorting=${sortingOf(place.query, DEVICE_COLUMNS)}
              busy=${loading}
              expected=${PAGE_ROWS}
              siteHref=${(/** @type {string} */ site) => withQuery(place, { site, cursor: null })}
            />`
      }
      ${
        !problem &&
        (data === null || data.items.length > 0 || narrowed) &&
        html`<${Pager} what="device" isSorted shown=${data?.items.length ?? 0} ...${pages} />`
      }
    </section>
  `;
}

/**
 * Filters of the list of devices. The address keeps them.
 *
 * @param {{ fleet: FleetInfo | null }} props the API's count
 */
function DeviceFilters({ fleet }) {
  const { router, vocabulary } = useServices();
  const { query } = useObservable(router.place);
  const { sites } = useObservable(vocabulary);
  const set = useCallback(
    (/** @type {string} */ name, /** @type {string} */ value) => {
      if (value === (router.place.get().query.get(name) ?? '')) return;
      router.changeQuery({ [name]: value, cursor: null });
    },
    [router],
  );
  const setName = useCallback((/** @type {string} */ value) => set('name', value), [set]);
  const setSite = useCallback((/** @type {string} */ value) => set('site', value), [set]);
  // The counts cover the whole fleet.
  const counts = query.has('site') || query.has('name') ? undefined : fleet?.devices;
  const label = (/** @type {string} */ word, /** @type {number | undefined} */ count) =>
    count === undefined ? word : `${word} ${formatCount(count)}`;

  return html`
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Choice}
        legend="State"
        options=${[
          { value: '', label: 'All' },
          { value: 'online', label: label('Online', counts?.online) },
          { value: 'offline', label: label('Offline', counts?.offline) },
        ]}
        value=${query.get('state') ?? ''}
        onChange=${(/** @type {string} */ value) => set('state', value)}
      />
      <${FilterField}
        label="Name"
        placeholder="begins with"
        value=${query.get('name') ?? ''}
        onChange=${setName}
      />
      <${FilterField}
        label="Site"
        placeholder="any"
        value=${query.get('site') ?? ''}
        options=${sites}
        onChange=${setSite}
      />
      ${
        DEVICE_FILTERS.some((name) => query.has(name)) &&
        html`<a class="button quiet-button" href="/?show=devices">Clear filters</a>`
      }
    </form>
  `;
}

/** Confirms the last action of the page before, until it is dismissed. */
function FlashMessage() {
  const { router } = useServices();
  const { flash, path, query, pageCursors } = useObservable(router.place);
  if (!flash) return null;
  const dismiss = () => router.go(`${path}?${query}`, { replace: true, pageCursors });
  return html`
    <div class="flash-message" role="status">
      <p>${flash}</p>
      <button type="button" class="button quiet-button" onClick=${dismiss}>Dismiss</button>
    </div>
  `;
}
