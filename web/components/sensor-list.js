import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { useObservable, useParts } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { FILTERS, PAGE_ROWS, useLatestPage } from '../state/use-latest-page.js';
import { usePages } from '../state/use-pages.js';
import { useTails } from '../state/use-tails.js';
import { FleetFilters } from './fleet-filters.js';
import { EmptyFleet, NoMatch } from './fleet-notices.js';
import { ListSwitch } from './list-switch.js';
import { ProblemNotice, SlowLine } from './notice.js';
import { Pager } from './pager.js';
import { SensorTable } from './sensor-table.js';

/** @import { Live } from '../state/live.js' */

/** All sensors page by page, live. */
export function SensorList() {
  const { live, router } = useParts();
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
