import { useCallback, useEffect, useRef } from 'preact/hooks';
import { FilterField, Pager, usePages } from '../components/list-controls.jsx';
import { Notice, ProblemNotice, SlowLine } from '../components/notice.jsx';
import { formatBytes, formatCount, formatDateTime, formatZone, NOTHING } from '../format.js';
import { deviceHref, withQuery } from '../routes.js';
import { useQuery, useServices } from '../state/hooks.js';
import { binName } from './bars.jsx';
import { BulkReplay } from './bulk-replay.jsx';
import { byCount, Code, reasonsOf } from './codes.jsx';
import { escapeLine, previewOf } from './text.js';

/** @import { DeadLetter, Refusal } from '../api/types.js' */
/** @import { Span } from './counts.js' */

/** Each dead letter comes with its payload, up to 64 KiB. */
const PAGE_ROWS = 25;

/** With a filter the API may give pages that are empty before the end: it reads a bounded number of rows for each. */
const MOST_EMPTY_PAGES = 20;

/**
 * The dead letters of the range or of one bar, page by page, of one device or one code where that is chosen.
 *
 * @param {object} props
 * @param {Span} props.span
 * @param {Span | null} props.bin the bar that was chosen
 * @param {number} props.count dead letters that are known in the span. A change reloads the first page
 */
export function DeadLetterList({ span, bin, count }) {
  const { client, preferences, router } = useServices();
  const place = router.place.value;
  const { zone } = preferences.choice.value;
  const cursor = place.query.get('cursor');
  const code = place.query.get('code');
  const device = place.query.get('device');
  // A cursor is good for the very range that it was given for, and that of "the last day" moves on.
  const from = cursor ? place.query.get('since') : new Date((bin ?? span).from).toISOString();
  const to = bin && new Date(bin.to).toISOString();
  const filter = { from, to, device, code };
  const key = JSON.stringify([cursor, filter]);
  const { data, problem, loading, slow, reload } = useQuery(key, async (signal) => {
    let page = await client.deadLetters({ ...filter, limit: PAGE_ROWS, cursor }, signal);
    for (let empty = 1; page.items.length === 0 && page.next && empty < MOST_EMPTY_PAGES; empty += 1) {
      page = await client.deadLetters({ ...filter, limit: PAGE_ROWS, cursor: page.next }, signal);
    }
    return page;
  });
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
  const setDevice = useCallback(
    (/** @type {string} */ value) => {
      if (value === (router.place.peek().query.get('device') ?? '')) return;
      router.changeQuery({ device: value, cursor: null, since: null });
    },
    [router],
  );

  return (
    <section class="panel" id="dead-letters" aria-label="Dead letters">
      <div class="panel-head">
        <h2>Messages</h2>
        <div class="chips">
          {bin && (
            <Chip
              label={binName(bin, zone)}
              href={withQuery(place, { at: null, cursor: null, since: null })}
            />
          )}
          {code && <Chip label={code} href={withQuery(place, { code: null, cursor: null, since: null })} />}
        </div>
      </div>
      <form class="filters" role="search" onSubmit={(/** @type {Event} */ event) => event.preventDefault()}>
        <FilterField
          label="Device"
          placeholder="as in its topic"
          value={device ?? ''}
          options={devicesOf(items ?? [])}
          onChange={setDevice}
        />
        <BulkReplay query={filter} onDone={reload} />
      </form>
      {slow && <SlowLine />}
      {problem ? (
        <ProblemNotice problem={problem} onRetry={problem.code === 'bad_cursor' ? pages.onFirst : reload} />
      ) : items?.length === 0 ? (
        <NothingHere isFiltered={Boolean(code || device)} more={Boolean(data?.next)} />
      ) : (
        <DeadLetterTable
          deadLetters={items}
          busy={loading}
          zone={zone}
          hrefOf={(/** @type {string} */ id) => withQuery(place, { id })}
        />
      )}
      {items && !problem && (cursor || data?.next || items.length > 0) && (
        <Pager what="dead letter" shown={items.length} {...pages} />
      )}
    </section>
  );
}

/** A filter of the list, with a link that removes it. @param {{ label: string, href: string }} props */
const Chip = ({ label, href }) => (
  <a class="chip" href={href} title="Show all again">
    {label} <span aria-hidden="true">×</span>
    <span class="visually-hidden">, show all again</span>
  </a>
);

/** @param {{ isFiltered: boolean, more: boolean }} props */
const NothingHere = ({ isFiltered, more }) => (
  <Notice title={isFiltered ? 'No dead letter matches' : 'No dead letter here'}>
    {isFiltered && <p>A device must match as a whole, as the topic names it.</p>}
    {more && <p>There may be some on the next page.</p>}
  </Notice>
);

/** @param {DeadLetter[]} items @returns {string[]} what the filter offers; any other device may be typed */
const devicesOf = (items) => [...new Set(items.flatMap(({ device }) => device ?? []))].sort();

/**
 * @param {object} props
 * @param {DeadLetter[] | null} props.deadLetters null while the first page is asked for
 * @param {boolean} props.busy
 * @param {'local' | 'utc'} props.zone
 * @param {(id: string) => string} props.hrefOf address of a dead letter
 */
export const DeadLetterTable = ({ deadLetters, busy, zone, hrefOf }) => (
  <table class="plain stacks dead-letters" aria-busy={busy}>
    <caption class="visually-hidden">Dead letters, newest first</caption>
    <thead>
      <tr>
        <th scope="col" class="col-time">
          Received {formatZone(zone, Date.now())}
        </th>
        <th scope="col" class="col-of">
          Device
        </th>
        <th scope="col" class="col-topic">
          Topic and payload
        </th>
        <th scope="col" class="col-codes">
          Refused
        </th>
        <th scope="col" class="col-size number">
          Size
        </th>
      </tr>
    </thead>
    <tbody>
      {deadLetters
        ? deadLetters.map((deadLetter) => (
            <Row key={deadLetter.id} deadLetter={deadLetter} zone={zone} href={hrefOf(deadLetter.id)} />
          ))
        : Array.from({ length: 6 }, (_, row) => (
            <tr key={row} class="waiting" aria-hidden="true">
              <td colSpan={5}>
                <span class="bar-gap" />
              </td>
            </tr>
          ))}
    </tbody>
  </table>
);

/** @param {{ deadLetter: DeadLetter, zone: 'local' | 'utc', href: string }} props */
const Row = ({ deadLetter, zone, href }) => (
  <tr>
    <th scope="row" class="col-time">
      <a class="row-link" href={href} title="Open this dead letter">
        <time datetime={deadLetter.ts}>{formatDateTime(Date.parse(deadLetter.ts), zone)}</time>
      </a>
    </th>
    <td class="col-of whole">
      <DeviceLink device={deadLetter.device} />
    </td>
    <td class="col-topic whole">
      <span class="topic" title={escapeLine(deadLetter.topic)}>
        {escapeLine(deadLetter.topic)}
      </span>
      {deadLetter.payload_base64 !== null && (
        <code class="preview">{previewOf(deadLetter.payload_base64)}</code>
      )}
    </td>
    <td class="col-codes whole">
      {byCount(deadLetter.codes).map(([code, count]) => (
        <span class="code-count" key={code}>
          <Code code={code} />
          {count > 1 && ` ${formatCount(count)}`}
        </span>
      ))}
      <FirstReason refused={deadLetter.refused ?? []} />
    </td>
    <td class="col-size number">
      {deadLetter.size === null ? (
        <span title="Only the counts were kept">{NOTHING}</span>
      ) : (
        formatBytes(deadLetter.size)
      )}
    </td>
  </tr>
);

/** The first field that breaks a rule, and the rule. Old dead letters have neither. @param {{ refused: Refusal[] }} props */
function FirstReason({ refused }) {
  const first = refused.find(({ rule }) => rule);
  if (!first) return null;
  const [text = ''] = reasonsOf([first], first.code, 1);
  return (
    <code class="first-reason" title={escapeLine(text)}>
      {escapeLine(text)}
    </code>
  );
}

/** A dead letter has the device of its topic, which may be unknown. @param {{ device: string | null }} props */
export const DeviceLink = ({ device }) =>
  device === null ? (
    <span class="quiet">several</span>
  ) : (
    <a class="link" href={deviceHref(device)}>
      {escapeLine(device)}
    </a>
  );
