import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Breadcrumbs } from '../components/navigation.js';
import { ProblemNotice, SlowLine } from '../components/notice.js';
import { formatCount, formatCounted, formatDateTime, formatZone } from '../format.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';
import { useQuery } from '../state/use-query.js';
import { DeviceLink } from './dead-letter-list.js';
import { PayloadView, readPayload } from './payload.js';
import { RefusedTable } from './refused-table.js';
import { Replay } from './replay.js';
import { escapeLine } from './text.js';

/** @import { DeadLetter } from '../api/types.js' */

/**
 * One dead letter, opened: where it came from, what was refused and why, what it held.
 *
 * @param {{ id: string, backHref: string }} props
 */
export function DeadLetterPage({ id, backHref }) {
  const { client } = useServices();
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const { data, problem, slow, reload } = useQuery(id, (signal) => client.deadLetter(id, signal));
  useTitle('Dead letter');
  // The view is the same, its content another: keyboard and screen reader begin at its top.
  useEffect(() => heading.current?.focus(), []);

  return html`
    <${Breadcrumbs} steps=${[{ label: 'Dead letters', href: backHref }]} />
    <div class="dead-letter-title">
      <h1 class="title-text" ref=${heading} tabindex="-1">Dead letter</h1>
      ${data && html`<${Facts} deadLetter=${data} />`}
    </div>
    ${slow && html`<${SlowLine} />`}
    ${problem && html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`}
    ${data && html`<${Content} deadLetter=${data} />`}
  `;
}

/** @param {{ deadLetter: DeadLetter }} props */
function Facts({ deadLetter }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const at = Date.parse(deadLetter.ts);
  return html`
    <dl class="dead-letter-facts">
      <div><dt>Received</dt><dd><time datetime=${deadLetter.ts}>${formatDateTime(at, zone)} ${formatZone(zone, at)}</time></dd></div>
      <div><dt>Device</dt><dd><${DeviceLink} device=${deadLetter.device} /></dd></div>
      <div><dt>Topic</dt><dd><code>${escapeLine(deadLetter.topic)}</code></dd></div>
      ${deadLetter.content_type !== null && html`<div><dt>Content type</dt><dd><code>${escapeLine(deadLetter.content_type)}</code></dd></div>`}
    </dl>
  `;
}

/** @param {{ deadLetter: DeadLetter }} props */
function Content({ deadLetter }) {
  const payload = useMemo(
    () => (deadLetter.payload_base64 === null ? null : readPayload(deadLetter)),
    [deadLetter],
  );
  const refused =
    deadLetter.refused ?? Object.entries(deadLetter.codes).map(([code]) => ({ index: -1, code }));
  const total = Object.values(deadLetter.codes).reduce((sum, count) => sum + count, 0);
  return html`
    <section class="panel" aria-label="Refused">
      <div class="panel-head">
        <h2>Refused</h2>
        <p class="panel-note">
          ${
            refused[0]?.index === -1
              ? 'The message as a whole'
              : `${formatCounted(total, 'measurement')}${total > refused.length ? `, of which the first ${formatCount(refused.length)} are listed` : ''}`
          }
        </p>
      </div>
      <${RefusedTable} refused=${refused} caption="What was refused" />
    </section>
    <${Replay} deadLetter=${deadLetter} keptBytes=${payload?.bytes.length ?? 0} />
    ${
      payload
        ? html`<${PayloadView} payload=${payload} size=${deadLetter.size ?? payload.bytes.length} refused=${refused} />`
        : html`<section class="panel" aria-label="Payload"><h2 class="panel-title">Payload</h2><p class="none">Only the counts were kept, no payload.</p></section>`
    }
  `;
}
