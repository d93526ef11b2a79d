import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Breadcrumbs } from '../components/navigation.tsx';
import { ProblemNotice, SlowLine } from '../components/notice.tsx';
import { formatCount, formatCounted, formatDateTime, formatZone } from '../format.ts';
import { useQuery, useServices, useTitle } from '../state/hooks.ts';
import { elementOf, RefusedTable } from './codes.tsx';
import { DeviceLink } from './dead-letter-list.tsx';
import { PayloadView, readPayload } from './payload.tsx';
import { Replay } from './replay.tsx';
import { escapeLine } from './text.ts';
import '../styles/dead-letters.css';
import type { DeadLetter } from '../api/types.ts';

/** One dead letter, opened: where it came from, what was refused and why, what it held. */
export function DeadLetterPage({ id, backHref }: { id: string; backHref: string }) {
  const { client } = useServices();
  const heading = useRef<HTMLHeadingElement | null>(null);
  const { data, problem, slow, reload } = useQuery(id, (signal) => client.deadLetter(id, signal));
  useTitle('Dead letter');
  // The view is the same, its content another: keyboard and screen reader begin at its top.
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

function Facts({ deadLetter }: { deadLetter: DeadLetter }) {
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

function Content({ deadLetter }: { deadLetter: DeadLetter }) {
  const payload = useMemo(
    () => (deadLetter.payload_base64 === null ? null : readPayload(deadLetter)),
    [deadLetter],
  );
  const refused =
    deadLetter.refused ?? Object.entries(deadLetter.codes).map(([code]) => ({ index: -1, code }));
  const element = elementOf(deadLetter.topic);
  const total = Object.values(deadLetter.codes).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <section class="panel" aria-label="Refused">
        <div class="panel-head">
          <h2>Refused</h2>
          <p class="panel-note">
            {refused[0]?.index === -1
              ? 'The message as a whole'
              : `${formatCounted(total, element)}${total > refused.length ? `, of which the first ${formatCount(refused.length)} are listed` : ''}`}
          </p>
        </div>
        <RefusedTable refused={refused} caption="What was refused" element={element} />
      </section>
      <Replay deadLetter={deadLetter} keptBytes={payload?.bytes.length ?? 0} />
      {payload ? (
        <PayloadView
          payload={payload}
          size={deadLetter.size ?? payload.bytes.length}
          refused={refused}
          element={element}
        />
      ) : (
        <section class="panel" aria-label="Payload">
          <h2 class="panel-title">Payload</h2>
          <p class="none">Only the counts were kept, no payload.</p>
        </section>
      )}
    </>
  );
}
