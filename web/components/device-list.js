import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { sortingOf } from '../state/sorting.js';
import { DEVICE_FILTERS, PAGE_ROWS, useDevicePage } from '../state/use-device-page.js';
import { usePages } from '../state/use-pages.js';
import { DeviceFilters } from './device-filters.js';
import { DEVICE_COLUMNS, DeviceTable } from './device-table.js';
import { EmptyFleet, NoDevice } from './fleet-notices.js';
import { ListSwitch } from './list-switch.js';
import { ProblemNotice, SlowLine } from './notice.js';
import { Pager } from './pager.js';
import { Word } from './word.js';

/** @import { FleetInfo } from '../api/types.js' */

/**
 * All devices, page by page.
 *
 * @param {{ fleet: FleetInfo | null }} props the API's count
 */
export function DeviceList({ fleet }) {
  const { router } = useParts();
  const place = useObservable(router.place);
  const { data, problem, loading, slow, reload } = useDevicePage(place.query);
  const pages = usePages({ next: loading ? undefined : data?.next, top: 'devices' });
  const cursor = place.query.get('cursor');
  const narrowed = cursor !== null || DEVICE_FILTERS.some((name) => place.query.has(name));

  return html`
    <${Word} />
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
