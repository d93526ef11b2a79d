import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { Notice, ProblemNotice, SlowLine } from '../components/notice.js';
import { Pager } from '../components/pager.js';
import { formatCounted } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { usePages } from '../state/use-pages.js';
import { useQuery } from '../state/use-query.js';
import { binName } from './bars.js';
import { LetterTable } from './dead-letter-table.js';

/** @import { Span } from './counts.js' */

/** Letters bring their payloads, up to 64 KiB each. */
const PAGE_ROWS = 25;

/**
 * The letters of the range or of one bar, page by page; one code of them within the page.
 *
 * @param {object} props
 * @param {Span} props.span
 * @param {Span | null} props.bin the bar that was chosen
 * @param {number} props.count letters of the span that are known of; when it changes, the first page is asked for anew
 */
export function LetterList({ span, bin, count }) {
  const { client, preferences, router } = useParts();
  const place = useObservable(router.place);
  const { zone } = useObservable(preferences);
  const cursor = place.query.get('cursor');
  const code = place.query.get('code');
  // A cursor is good for the very range that it was given for, and that of "the last day" moves on.
  const from = cursor ? place.query.get('since') : new Date((bin ?? span).from).toISOString();
  const to = bin && new Date(bin.to).toISOString();
  const key = JSON.stringify([cursor, from, to]);
  const { data, problem, loading, slow, reload } = useQuery(key, (signal) =>
    client.deadLetters({ limit: PAGE_ROWS, cursor, from, to }, signal),
  );
  const pages = usePages({
    next: loading ? undefined : data?.next,
    along: (next) => ({ since: next && from }),
  });
  const listed = useRef(count);
  useEffect(() => {
    if (listed.current === count) return;
    listed.current = count;
    if (!cursor) reload();
  }, [cursor, count, reload]);
  const items = data?.items ?? null;
  const shown = items?.filter(({ codes }) => !code || Object.hasOwn(codes, code)) ?? null;

  return html`
    <section class="panel" id="letters" aria-label="Letters">
      <div class="panel-head">
        <h2>Letters</h2>
        <div class="chips">
          ${bin && html`<${Chip} label=${binName(bin, zone)} href=${withQuery(place, { at: null, cursor: null, since: null })} />`}
          ${code && html`<${Chip} label=${code} href=${withQuery(place, { code: null })} />`}
        </div>
      </div>
      ${slow && html`<${SlowLine} />`}
      ${
        problem
          ? html`<${ProblemNotice} problem=${problem} onRetry=${problem.code === 'bad_cursor' ? pages.onFirst : reload} />`
          : shown?.length === 0
            ? html`<${NothingHere} of=${items?.length ?? 0} code=${code} more=${Boolean(data?.next)} />`
            : html`<${LetterTable} letters=${shown} busy=${loading} zone=${zone} hrefOf=${(/** @type {string} */ id) => withQuery(place, { letter: id })} />`
      }
      ${
        items &&
        !problem &&
        (cursor || data?.next || items.length > 0) &&
        html`<${Pager} what="letter" shown=${shown?.length ?? 0} ...${pages} />`
      }
    </section>
  `;
}

/** What the list is narrowed to, and the way out of it. @param {{ label: string, href: string }} props */
const Chip = ({ label, href }) =>
  html`<a class="chip" href=${href} title="Show all again">${label} <span aria-hidden="true">×</span><span class="said">, show all again</span></a>`;

/** @param {{ of: number, code: string | null, more: boolean }} props */
const NothingHere = ({ of, code, more }) => html`
  <${Notice} title=${code && of > 0 ? `None of ${formatCounted(of, 'letter')} on this page has ${code}` : 'No letter here'}>
    ${more && html`<p>There may be some on the next page.</p>`}
  <//>
`;
