import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { Zone } from '../../format.ts';
import { formatCount, formatDateTime, formatZone, NOTHING } from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { FilterField, Pager, usePages } from '../../kit/list-controls.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref, withQuery } from '../../routes.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { rowsOf } from '../../state/lists.ts';
import { formatBytes } from '../shared/bytes.ts';
import type { DeadLetter, Refusal } from './api.ts';
import { readDeadLetters } from './api.ts';
import { binName } from './bars.tsx';
import { BulkReplay } from './bulk-replay.tsx';
import { byCount, Code, reasonsOf } from './codes.tsx';
import type { Span } from './counts.ts';
import { escapeLine, previewOf } from './text.ts';

/** Rows per page. The number is small, because the API sends the payload of up to 64 KiB with each dead letter. */
const PAGE_ROWS = 25;

/** Maximum number of empty pages that are read in a row. With a filter, the API checks a limited number of rows for each page. */
const MOST_EMPTY_PAGES = 20;

export function DeadLetterList({
  span,
  bin,
  count,
}: {
  span: Span;
  /** the chosen bar; null: the whole range */
  bin: Span | null;
  /** number of known dead letters in the span; a change reloads the first page */
  count: number;
}) {
  const { client, preferences, router } = useServices();
  const place = router.place.value;
  const { zone } = preferences.choice.value;
  const cursor = place.query.get('cursor');
  const code = place.query.get('code');
  const device = place.query.get('device');
  // A cursor is valid only for the range of its request, and "the last day" moves with time.
  const from = cursor ? place.query.get('since') : new Date((bin ?? span).from).toISOString();
  const to = bin && new Date(bin.to).toISOString();
  const filter = { from, to, device, code };
  const key = JSON.stringify([cursor, filter]);
  const { data, problem, loading, slow, reload } = useQuery(key, async (signal) => {
    let page = await readDeadLetters(client, { ...filter, limit: PAGE_ROWS, cursor }, signal);
    for (let empty = 1; page.items.length === 0 && page.next && empty < MOST_EMPTY_PAGES; empty += 1) {
      page = await readDeadLetters(client, { ...filter, limit: PAGE_ROWS, cursor: page.next }, signal);
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
  const items = rowsOf(data, loading);
  const setDevice = useCallback(
    (value: string) => {
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
      <form class="filters" role="search" onSubmit={(event: Event) => event.preventDefault()}>
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
          hrefOf={(id: string) => withQuery(place, { id })}
        />
      )}
      {items && !problem && (cursor || data?.next || items.length > 0) && (
        <Pager what="dead letter" shown={items.length} {...pages} />
      )}
    </section>
  );
}

/** Renders a filter of the list, with a link that removes it. */
const Chip = ({ label, href }: { label: string; href: string }) => (
  <a class="chip" href={href} title="Show all again">
    {label} <span aria-hidden="true">×</span>
    <span class="visually-hidden">, show all again</span>
  </a>
);

const NothingHere = ({ isFiltered, more }: { isFiltered: boolean; more: boolean }) => (
  <Notice title={isFiltered ? 'No dead letter matches' : 'No dead letter here'}>
    {isFiltered && <p>A device must match as a whole, as the topic names it.</p>}
    {more && <p>There may be some on the next page.</p>}
  </Notice>
);

/** @returns devices that the filter offers; users may type other devices */
const devicesOf = (items: DeadLetter[]): string[] =>
  [...new Set(items.flatMap(({ device }) => device ?? []))].sort();

const DeadLetterTable = ({
  deadLetters,
  busy,
  zone,
  hrefOf,
}: {
  /** null while the first page is read */
  deadLetters: DeadLetter[] | null;
  busy: boolean;
  zone: Zone;
  /** returns the address of a dead letter */
  hrefOf: (id: string) => string;
}) => (
  <Table
    class="plain stacks dead-letters"
    caption="Dead letters, newest first"
    rows={deadLetters}
    keyOf={({ id }) => id}
    aria-busy={busy}
    columns={[
      {
        label: `Received ${formatZone(zone, Date.now())}`,
        class: 'col-time',
        width: '12rem',
        isName: true,
        cell: ({ id, ts }) => (
          <>
            <a class="row-link" href={hrefOf(id)} title="Open this dead letter">
              <time datetime={ts}>{formatDateTime(Date.parse(ts), zone)}</time>
            </a>
            <OtherZone ts={Date.parse(ts)} />
          </>
        ),
      },
      {
        label: 'Device',
        class: 'col-of whole',
        width: '14rem',
        cell: ({ device }) => <DeviceLink device={device} />,
      },
      {
        label: 'Topic and payload',
        class: 'col-topic whole',
        cell: ({ topic, payload_base64 }) => (
          <>
            <span class="topic" title={escapeLine(topic)}>
              {escapeLine(topic)}
            </span>
            {payload_base64 !== null && <code class="preview">{previewOf(payload_base64)}</code>}
          </>
        ),
      },
      {
        label: 'Refused',
        class: 'col-codes whole',
        width: '20rem',
        cell: ({ codes, refused }) => (
          <>
            {byCount(codes).map(([code, count]) => (
              <span class="code-count" key={code}>
                <Code code={code} />
                {count > 1 && ` ${formatCount(count)}`}
              </span>
            ))}
            <FirstReason refused={refused ?? []} />
          </>
        ),
      },
      {
        label: 'Size',
        class: 'number',
        width: '6.5rem',
        cell: ({ size }) =>
          size === null ? <span title="Only the counts were kept">{NOTHING}</span> : formatBytes(size),
      },
    ]}
  />
);

/** Renders the first field that violates a rule, and the rule. Dead letters of older versions have neither. */
function FirstReason({ refused }: { refused: Refusal[] }) {
  const first = refused.find(({ rule }) => rule);
  if (!first) return null;
  const [text = ''] = reasonsOf([first], first.code, 1);
  return (
    <code class="first-reason" title={escapeLine(text)}>
      {escapeLine(text)}
    </code>
  );
}

/** Renders a link to the device of a dead letter, as named in the topic. The device may be unknown to Millrace. */
export const DeviceLink = ({ device }: { device: string | null }) =>
  device === null ? (
    <span class="quiet">several</span>
  ) : (
    <a class="link" href={deviceHref(device)}>
      {escapeLine(device)}
    </a>
  );
