import { problemWords } from '../../api/request.ts';
import type { Zone } from '../../format.ts';
import { formatCount, formatCounted, formatDateTime, formatZone, NOTHING } from '../../format.ts';
import { Choice } from '../../kit/controls.tsx';
import { OtherZone } from '../../kit/figure.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { Table } from '../../kit/table.tsx';
import { withQuery } from '../../routes.ts';
import { useServices, useTitle } from '../../state/hooks.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { formatBytes } from '../shared/bytes.ts';
import { Copyable, CopyButton } from '../shared/copy.tsx';
import { Bars, BinsTable } from './bars.tsx';
import { CodeTable } from './codes.tsx';
import { binsOf, chosenBin, RANGES, rangeOf, sumBins, useCounts } from './counts.ts';
import { DeadLetterPage } from './dead-letter.tsx';
import { DeadLetterList } from './dead-letter-list.tsx';
import '../shared/tables.css';
import './dead-letters.css';
import { useState } from 'preact/hooks';
import type { Place } from '../../routes.ts';
import type { UnmatchedTopics as Answer, UnmatchedTopic } from './api.ts';
import type { Bin } from './counts.ts';
import { useUnmatchedTopics } from './state.ts';
import { escapeLine, previewOf } from './text.ts';

export function DeadLettersView() {
  const { router } = useServices();
  const place = router.place.value;
  const id = place.query.get('id');
  useFiguresAlone();
  if (id) return <DeadLetterPage key={id} id={id} backHref={withQuery(place, { id: null })} />;
  return <Overview place={place} />;
}

function Overview({ place }: { place: Place }) {
  const { preferences, router } = useServices();
  const { zone } = preferences.choice.value;
  const range = rangeOf(place.query);
  const bin = chosenBin(place.query, range);
  const { hours, span, reached, problem, reload } = useCounts(range);
  const bins = binsOf(hours, span, range.binMs);
  const sum = sumBins(bins);
  const isCounted = reached <= span.from;
  const isKnown = reached !== Number.POSITIVE_INFINITY;
  useTitle('Dead letters');

  /** @param at start of the chosen bar in epoch ms; null: no bar is chosen */
  const narrowed = (at: number | null) => ({
    at: at === null ? null : new Date(at).toISOString(),
    cursor: null,
    since: null,
  });
  return (
    <>
      <div class="title">
        <div>
          <h1>Dead letters</h1>
          <p class="lead">
            Messages that were refused in whole or in part, and the reasons. MQTT 5 reports them to the
            sender, MQTT 3.1.1 does not. They are kept for 14 days.
          </p>
        </div>
        <Choice
          legend="Range"
          options={RANGES}
          value={range.value}
          onChange={(value: string) =>
            router.changeQuery({ ...narrowed(null), range: value }, { replace: true })
          }
        />
      </div>
      <section class="panel" aria-label="Refused over time" aria-busy={!isCounted}>
        {problem && !isCounted ? (
          <ProblemNotice problem={problem} onRetry={reload} />
        ) : isCounted && sum.deadLetters === 0 ? (
          <NothingRefused range={range} place={place} />
        ) : (
          <>
            <Totals
              sum={sum}
              words={range.words}
              isKnown={isKnown}
              reached={isCounted ? null : formatDateTime(isKnown ? reached : span.to, zone)}
            />
            {problem && (
              <p class="slow" role="status">
                The newest dead letters are not counted: {problemWords(problem).title}. The page tries again.
              </p>
            )}
            <Bars
              bins={bins}
              chosen={bin}
              zone={zone}
              reached={isKnown ? reached : span.to}
              onChoose={({ from }: Bin) => router.changeQuery(narrowed(from === bin?.from ? null : from))}
            />
            <BinsTable bins={bins} zone={zone} hrefOf={({ from }: Bin) => withQuery(place, narrowed(from))} />
            {isKnown && (
              <CodeTable
                codes={sum.codes}
                chosen={place.query.get('code')}
                hrefOf={(code: string) => withQuery(place, { code, cursor: null, since: null })}
              />
            )}
          </>
        )}
      </section>
      {(sum.deadLetters > 0 || bin || !isCounted) && (
        <DeadLetterList span={span} bin={bin} count={sum.deadLetters} />
      )}
      <UnmatchedTopics />
    </>
  );
}

const Totals = ({
  sum,
  words,
  isKnown,
  reached,
}: {
  sum: Bin;
  /** name of the range as text */
  words: string;
  isKnown: boolean;
  /** time since which dead letters are counted so far, as text; null: the count is complete */
  reached: string | null;
}) => (
  <p class="totals" role="status">
    {isKnown ? (
      <>
        <strong>{formatCounted(sum.total, 'refusal')}</strong> in{' '}
        <strong>{formatCounted(sum.deadLetters, 'dead letter')}</strong> of the last {words}
      </>
    ) : (
      'Counting…'
    )}
    {isKnown && reached && <span class="quiet"> · counted back to {reached}, going on</span>}
  </p>
);

const NothingRefused = ({ range, place }: { range: (typeof RANGES)[number]; place: Place }) => (
  <Notice title={`No message was refused in the last ${range.words}`} tone="good">
    <p>Refused HTTP requests are not listed, because their answers have the reasons.</p>
    {range.value !== '14d' && (
      <p>
        <a class="button" href={withQuery(place, { range: '14d' })}>
          Look at 14 days
        </a>
      </p>
    )}
  </Notice>
);

/** Maximum number of payload characters that are shown in a row, and below the row. The API keeps the first 2 KiB. */
const ROW_CHARACTERS = 256;
const PAYLOAD_CHARACTERS = 2048;

/** The text about the messages that the list covers, by the broker from which the API process receives them. */
const COVERED: Record<Answer['source'], string> = {
  embedded:
    'Millrace drops and counts messages on topics that neither it nor a mapping knows. MQTT 3.1.1 gets a plain PUBACK, MQTT 5 a PUBACK with 0x90. A mapping makes measurements of them.',
  external:
    'Behind an external broker Millrace subscribes to its own topics and to those of mappings only. A message on any other topic stays at the broker and is not listed here. Look at the log of the broker for those.',
  none: 'This process receives nothing over MQTT, so it lists nothing. Ask a process with the role all or ingest.',
};

/** Renders the table of messages on unknown topics. No other page shows such messages. */
function UnmatchedTopics() {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { data, problem, slow, reload } = useUnmatchedTopics();
  // The API has no mappings, so it does not count these messages.
  if (problem && !data && problem.code === 'not_found') return null;
  return (
    <section class="panel" id="unmatched-topics" aria-label="Unmatched topics">
      <div class="panel-head">
        <h2>Unmatched topics</h2>
        {data && (
          <p class="panel-note small">
            Counted by this process since {formatDateTime(Date.parse(data.since), zone)}
          </p>
        )}
      </div>
      {slow && <SlowLine />}
      {problem && !data && <ProblemNotice problem={problem} onRetry={reload} />}
      {data && <p class="unmatched-note">{COVERED[data.source]}</p>}
      {data && data.items.length === 0 && data.source === 'embedded' && (
        <p class="none">No message came on an unknown topic.</p>
      )}
      {data && data.items.length > 0 && <TopicTable items={data.items} zone={zone} />}
    </section>
  );
}

function TopicTable({ items, zone }: { items: UnmatchedTopic[]; zone: Zone }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Table
      class="plain stacks unmatched"
      caption="Unmatched topics, the newest first"
      rows={items}
      keyOf={({ topic }) => topic}
      extra={(item) =>
        item.topic === open && item.mapping !== null
          ? { content: <Proposal item={item} mapping={item.mapping} /> }
          : null
      }
      columns={[
        {
          label: 'Topic',
          class: 'wraps',
          isName: true,
          cell: ({ topic }) => <code>{escapeLine(topic)}</code>,
        },
        { label: 'Messages', class: 'col-count number', cell: ({ count }) => formatCount(count) },
        {
          label: `Last ${formatZone(zone, Date.now())}`,
          class: 'col-last',
          cell: ({ ts }) => (
            <>
              <time datetime={ts}>{formatDateTime(Date.parse(ts), zone)}</time>
              <OtherZone ts={Date.parse(ts)} />
            </>
          ),
        },
        {
          label: 'Last payload',
          class: 'wraps whole',
          cell: ({ payload_base64, size }) => (
            <>
              <code>{previewOf(payload_base64, ROW_CHARACTERS)}</code>{' '}
              <span class="quiet">{formatBytes(size)}</span>
            </>
          ),
        },
        {
          label: 'Suggestion',
          class: 'wraps whole',
          cell: ({ topic, mapping, suggestion }) =>
            mapping === null ? (
              <Suggestion topic={suggestion} />
            ) : (
              <button
                type="button"
                class="button"
                aria-expanded={topic === open}
                onClick={() => setOpen(topic === open ? null : topic)}
              >
                {topic === open ? 'Hide the mapping' : 'Propose a mapping'}
                <span class="visually-hidden"> for {escapeLine(topic)}</span>
              </button>
            ),
        },
      ]}
    />
  );
}

const Suggestion = ({ topic }: { topic: string | null }) =>
  topic === null ? (
    <span class="quiet" title="No topic of Millrace is close">
      {NOTHING}
    </span>
  ) : (
    <span class="suggestion">
      <code>{escapeLine(topic)}</code> <CopyButton text={topic} what="the topic" />
    </span>
  );

function Proposal({ item, mapping }: { item: UnmatchedTopic; mapping: string }) {
  const payload = previewOf(item.payload_base64, PAYLOAD_CHARACTERS);
  const isCut = payload.endsWith('…') || item.size > PAYLOAD_CHARACTERS;
  const test = `npm run mappings -- test mappings.yaml --topic ${quoted(item.topic)} --payload ${quoted(payload)}`;
  return (
    <ol class="proposal-steps">
      <li>
        Save this draft as <code>mappings.yaml</code>, or add its entry to the file that you have. Check which
        level is <code>{'{device}'}</code>, and add units.
        <Copyable text={mapping} what={`Mapping for ${escapeLine(item.topic)}`} />
      </li>
      <li>
        See what the last message becomes.
        {isCut && ' Only its beginning is kept here, so put in the whole payload.'}
        <Copyable text={test} what={`Command for ${escapeLine(item.topic)}`} />
      </li>
      <li>
        Set <code>MQTT_MAPPINGS=mappings.yaml</code> and restart the process.{' '}
        <a class="link" href="/docs/reference/mappings" data-native>
          All members of a mapping
        </a>
      </li>
    </ol>
  );
}

/** @returns the text quoted as one word of a shell */
const quoted = (text: string): string => `'${escapeLine(text).replaceAll("'", "'\\''")}'`;
