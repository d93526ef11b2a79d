import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { Notice, ProblemNotice, SlowLine } from '../components/notice.js';
import { Pager, usePages } from '../components/pager.js';
import { formatBytes, formatCount, formatCounted, formatDateTime, formatZone, NOTHING } from '../format.js';
import { deviceHref } from '../routes.js';
import { useObservable, useServices } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { useQuery } from '../state/use-query.js';
import { binName } from './bars.js';
import { byCount, Code } from './codes.js';
import { escapeLine } from './text.js';

/** @import { DeadLetter } from '../api/types.js' */
/** @import { Span } from './counts.js' */

/** Each dead letter comes with its payload, up to 64 KiB. */
const PAGE_ROWS = 25;

/**
 * The dead letters of the range or of one bar, page by page. A code narrows the page.
 *
 * @param {object} props
 * @param {Span} props.span
 * @param {Span | null} props.bin the bar that was chosen
 * @param {number} props.count dead letters that are known in the span. A change reloads the first page
 */
export function DeadLetterList({ span, bin, count }) {
  const { client, preferences, router } = useServices();
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
    <section class="panel" id="dead-letters" aria-label="Dead letters">
      <div class="panel-head">
        <h2>Messages</h2>
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
            ? html`<${NothingHere} total=${items?.length ?? 0} code=${code} more=${Boolean(data?.next)} />`
            : html`<${DeadLetterTable} deadLetters=${shown} busy=${loading} zone=${zone} hrefOf=${(/** @type {string} */ id) => withQuery(place, { id })} />`
      }
      ${
        items &&
        !problem &&
        (cursor || data?.next || items.length > 0) &&
        html`<${Pager} what="dead letter" shown=${shown?.length ?? 0} ...${pages} />`
      }
    </section>
  `;
}

/** A filter of the list, with a link that removes it. @param {{ label: string, href: string }} props */
const Chip = ({ label, href }) =>
  html`<a class="chip" href=${href} title="Show all again">${label} <span aria-hidden="true">×</span><span class="visually-hidden">, show all again</span></a>`;

/** @param {{ total: number, code: string | null, more: boolean }} props */
const NothingHere = ({ total, code, more }) => html`
  <${Notice} title=${code && total > 0 ? `None of ${formatCounted(total, 'dead letter')} on this page has ${code}` : 'No dead letter here'}>
    ${more && html`<p>There may be some on the next page.</p>`}
  <//>
`;

/**
 * @param {object} props
 * @param {DeadLetter[] | null} props.deadLetters null while the first page is asked for
 * @param {boolean} props.busy
 * @param {'local' | 'utc'} props.zone
 * @param {(id: string) => string} props.hrefOf address of a dead letter
 */
export const DeadLetterTable = ({ deadLetters, busy, zone, hrefOf }) => html`
  <table class="plain stacks dead-letters" aria-busy=${busy}>
    <caption class="visually-hidden">Dead letters, newest first</caption>
    <thead>
      <tr>
        <th scope="col" class="col-time">Received ${formatZone(zone, Date.now())}</th>
        <th scope="col" class="col-of">Device</th>
        <th scope="col" class="col-topic">Topic</th>
        <th scope="col" class="col-codes">Refused</th>
        <th scope="col" class="col-size number">Size</th>
      </tr>
    </thead>
    <tbody>
      ${
        deadLetters
          ? deadLetters.map(
              (deadLetter) =>
                html`<${Row} key=${deadLetter.id} deadLetter=${deadLetter} zone=${zone} href=${hrefOf(deadLetter.id)} />`,
            )
          : Array.from(
              { length: 6 },
              (_, row) =>
                html`<tr key=${row} class="waiting" aria-hidden="true"><td colspan="5"><span class="bar-gap"></span></td></tr>`,
            )
      }
    </tbody>
  </table>
`;

/** @param {{ deadLetter: DeadLetter, zone: 'local' | 'utc', href: string }} props */
const Row = ({ deadLetter, zone, href }) => html`
  <tr>
    <th scope="row" class="col-time">
      <a class="row-link" href=${href}><time datetime=${deadLetter.ts}>${formatDateTime(Date.parse(deadLetter.ts), zone)}</time></a>
    </th>
    <td class="col-of whole"><${DeviceLink} device=${deadLetter.device} /></td>
    <td class="col-topic" title=${escapeLine(deadLetter.topic)}>${escapeLine(deadLetter.topic)}</td>
    <td class="col-codes whole">
      ${byCount(deadLetter.codes).map(([code, count]) => html`<span class="code-count" key=${code}><${Code} code=${code} />${count > 1 && ` ${formatCount(count)}`}</span>`)}
    </td>
    <td class="col-size number">${deadLetter.size === null ? html`<span title="Only the counts were kept">${NOTHING}</span>` : formatBytes(deadLetter.size)}</td>
  </tr>
`;

/** A dead letter has the device of its topic, which may be unknown. @param {{ device: string | null }} props */
export const DeviceLink = ({ device }) =>
  device === null
    ? html`<span class="quiet">several</span>`
    : html`<a class="link" href=${deviceHref(device)}>${escapeLine(device)}</a>`;
