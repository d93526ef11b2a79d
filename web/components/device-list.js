import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { sortingOf } from '../state/sorting.js';
import { DEVICE_FILTERS, PAGE_ROWS, useDevicePage } from '../state/use-device-page.js';
import { DeviceFilters } from './device-filters.js';
import { DEVICE_COLUMNS, DeviceTable } from './device-table.js';
import { EmptyFleet, NoDevice } from './fleet-notices.js';
import { ListSwitch } from './list-switch.js';
import { ProblemNotice, SlowLine } from './notice.js';
import { Pager } from './pager.js';
import { Word } from './word.js';

/** All devices, page by page. */
export function DeviceList() {
  const { router } = useParts();
  const place = useObservable(router.place);
  const { data, problem, loading, slow, reload } = useDevicePage(place.query);
  const cursor = place.query.get('cursor');
  const narrowed = cursor !== null || DEVICE_FILTERS.some((name) => place.query.has(name));

  /** @param {string | null} next @param {(string | null)[]} trail cursors of the pages before */
  const toPage = (next, trail) => {
    router.changeQuery({ cursor: next }, { trail });
    document.getElementById('devices')?.scrollIntoView({ block: 'nearest' });
  };

  return html`
    <${Word} />
    <section id="devices" class="panel" aria-label="Devices">
      <div class="list-head"><${ListSwitch} /><${DeviceFilters} /></div>
      ${slow && html`<${SlowLine} />`}
      ${
        problem
          ? html`<${ProblemNotice}
            problem=${problem}
            onRetry=${problem.code === 'bad_cursor' ? () => toPage(null, []) : reload}
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
        html`<${Pager}
          what="device"
          shown=${data?.items.length ?? 0}
          isFirst=${!cursor}
          isSorted
          number=${cursor && place.trail.length === 0 ? null : place.trail.length + 1}
          onFirst=${() => toPage(null, [])}
          onPrevious=${place.trail.length > 0 ? () => toPage(place.trail.at(-1) ?? null, place.trail.slice(0, -1)) : null}
          onNext=${data?.next && !loading ? () => toPage(data.next, [...place.trail, cursor]) : null}
        />`
      }
    </section>
  `;
}
