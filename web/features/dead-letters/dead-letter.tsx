import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted, formatDateTime, formatZone } from '../../format.ts';
import { Breadcrumbs } from '../../kit/navigation.tsx';
import { ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { useQuery, useServices, useTitle } from '../../state/hooks.ts';
import { formatBytes } from '../shared/bytes.ts';
import { readDeadLetter } from './api.ts';
import { elementOf, RefusedTable } from './codes.tsx';
import { DeviceLink } from './dead-letter-list.tsx';
import { Replay } from './replay.tsx';
import { bytesOf, dumpOf, escapeInvisible, escapeLine } from './text.ts';
import './dead-letters.css';
import { Choice } from '../../kit/controls.tsx';
import type { Decoded, DecodedDeadLetter, DecodedElement, Refusal } from './api.ts';

export function DeadLetterPage({ id, backHref }: { id: string; backHref: string }) {
  const { client } = useServices();
  const heading = useRef<HTMLHeadingElement | null>(null);
  const { data, problem, slow, reload } = useQuery(id, (signal) => readDeadLetter(client, id, signal));
  useTitle('Dead letter');
  // The view stays the same and only its content changes, so the heading takes the focus for keyboard and screen reader.
  useEffect(() => heading.current?.focus(), []);

  return (
    <>
      <Breadcrumbs steps={[{ label: 'Dead letters', href: backHref }]} />
      <div class="dead-letter-title">
        <h1 class="title-text" ref={heading} tabIndex={-1}>
          Dead letter
        </h1>
        {data && <Facts deadLetter={data} />}
      </div>
      {slow && <SlowLine />}
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {data && <Content deadLetter={data} />}
    </>
  );
}

function Facts({ deadLetter }: { deadLetter: DecodedDeadLetter }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const at = Date.parse(deadLetter.ts);
  return (
    <dl class="dead-letter-facts">
      <div>
        <dt>Received</dt>
        <dd>
          <time datetime={deadLetter.ts}>
            {formatDateTime(at, zone)} {formatZone(zone, at)}
          </time>
        </dd>
      </div>
      <div>
        <dt>Device</dt>
        <dd>
          <DeviceLink device={deadLetter.device} />
        </dd>
      </div>
      <div>
        <dt>Topic</dt>
        <dd>
          <code>{escapeLine(deadLetter.topic)}</code>
        </dd>
      </div>
      {deadLetter.content_type !== null && (
        <div>
          <dt>Content type</dt>
          <dd>
            <code>{escapeLine(deadLetter.content_type)}</code>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Content({ deadLetter }: { deadLetter: DecodedDeadLetter }) {
  const { decoded, payload_base64 } = deadLetter;
  const bytes = useMemo(() => bytesOf(payload_base64 ?? ''), [payload_base64]);
  const refused =
    deadLetter.refused ?? Object.entries(deadLetter.codes).map(([code]) => ({ index: -1, code }));
  const element = elementOf(deadLetter.topic);
  const total = Object.values(deadLetter.codes).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <section class="panel" aria-label="Refused">
        <div class="panel-head">
          <h2>Refused</h2>
          <p class="panel-note small">
            {refused[0]?.index === -1
              ? 'The message as a whole'
              : `${formatCounted(total, element)}${total > refused.length ? `, of which the first ${formatCount(refused.length)} are listed` : ''}`}
          </p>
        </div>
        <RefusedTable refused={refused} caption="What was refused" element={element} />
      </section>
      <Replay deadLetter={deadLetter} keptBytes={bytes.length} />
      {decoded ? (
        <PayloadView size={deadLetter.size ?? bytes.length} {...{ decoded, bytes, refused, element }} />
      ) : (
        <section class="panel" aria-label="Payload">
          <h2 class="panel-title">Payload</h2>
          <p class="none">Only the counts were kept, no payload.</p>
        </section>
      )}
    </>
  );
}

/** Number of elements that the page shows at first, and that each click on "more" adds. */
const AT_ONCE = 100;

/** Bytes per line of a hex dump, for a narrow and a wide screen. The narrow dump fits a phone. */
const DUMP_WIDTHS = { narrow: 8, wide: 16 };

/** Renders the payload in its most readable form. The sender is unknown, so all content is shown as text. */
function PayloadView({
  decoded: { text, elements, format, problem },
  bytes,
  size,
  refused,
  element,
}: {
  decoded: Decoded;
  /** bytes of the payload that were kept */
  bytes: Uint8Array;
  /** size of the whole payload in bytes */
  size: number;
  refused: Refusal[];
  /** noun for an element, such as `measurement` */
  element: string;
}) {
  const ways = [
    ...(elements ? [{ value: 'elements', label: `${element[0]?.toUpperCase()}${element.slice(1)}s` }] : []),
    ...(text === null ? [] : [{ value: 'text', label: 'Text' }]),
    { value: 'bytes', label: 'Bytes' },
  ];
  const [way, setWay] = useState(ways[0]?.value ?? 'bytes');
  const isNarrow = matchMedia('(max-width: 44rem)').matches;
  return (
    <section class="panel" aria-label="Payload">
      <div class="panel-head">
        <h2>Payload</h2>
        <p class="panel-note small">
          {format && `${format}, `}
          {formatBytes(size)}
          {size > bytes.length && `, of which the first ${formatBytes(bytes.length)} were kept`}
        </p>
        <Choice legend="Show it as" options={ways} value={way} onChange={setWay} />
      </div>
      {problem && way !== 'bytes' && <p class="obstacle">{escapeInvisible(problem)}</p>}
      {bytes.length === 0 && <p class="none">It is empty.</p>}
      {way === 'elements' && elements && <Elements elements={elements} refused={refused} element={element} />}
      {way === 'text' && bytes.length > 0 && (
        <pre class="payload" tabIndex={0} role="region" aria-label="Payload as text">
          {escapeInvisible(text ?? '')}
        </pre>
      )}
      {way === 'bytes' && bytes.length > 0 && (
        <pre class="payload dump" tabIndex={0} role="region" aria-label="Payload as bytes, in hexadecimal">
          {dumpOf(bytes, isNarrow ? DUMP_WIDTHS.narrow : DUMP_WIDTHS.wide)}
        </pre>
      )}
    </section>
  );
}

/** Renders an element in which the refused values are marked. */
function Marked({ element: { text, marks } }: { element: DecodedElement }) {
  const starts = [0, ...marks.map(([, end]) => end)];
  return starts.map((start, index) => {
    const [begin, end] = marks[index] ?? [text.length, text.length];
    return (
      <Fragment key={start}>
        {escapeInvisible(text.slice(start, begin))}
        {begin < end && <mark class="refused-value">{escapeInvisible(text.slice(begin, end))}</mark>}
      </Fragment>
    );
  });
}

function Elements({
  elements,
  refused,
  element,
}: {
  elements: DecodedElement[];
  refused: Refusal[];
  element: string;
}) {
  const [shown, setShown] = useState(AT_ONCE);
  const [onlyRefused, setOnlyRefused] = useState(false);
  const codes = new Map(refused.map(({ index, code }) => [index, code]));
  const all = elements.map((each, index) => ({ each, index, code: codes.get(index) }));
  const wanted = onlyRefused ? all.filter(({ code }) => code) : all;
  const hasBoth = codes.size > 0 && !codes.has(-1) && elements.length > codes.size;
  return (
    <>
      {hasBoth && (
        <p class="elements-filter">
          <label>
            <input type="checkbox" checked={onlyRefused} onChange={() => setOnlyRefused(!onlyRefused)} /> Only
            what was refused
          </label>
        </p>
      )}
      <ol class="elements" tabIndex={0} aria-label={`Payload, ${element} by ${element}`}>
        {wanted.slice(0, shown).map(({ each, index, code }) => (
          <li key={index} data-refused={Boolean(code)}>
            <span class="element-index">[{index}]</span>
            <code>
              <Marked element={each} />
            </code>
            {code && <span class="element-code">✕ {code}</span>}
          </li>
        ))}
      </ol>
      {wanted.length > shown && (
        <p class="more small">
          <button type="button" class="button" onClick={() => setShown(shown + 10 * AT_ONCE)}>
            Show {formatCount(Math.min(wanted.length - shown, 10 * AT_ONCE))} more
          </button>
          <span>of {formatCount(wanted.length)}</span>
        </p>
      )}
    </>
  );
}
