import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { formatCount } from '../format.js';
import { aheadOf, MOVED_MS } from '../state/clock.js';
import { useServices } from '../state/hooks.js';
import { useMay } from '../state/session.js';

const MOST_SHOWN = 999;

/**
 * The main views, and the manual.
 *
 * @param {{ view: string }} props the one that is shown
 */
export function Navigation({ view }) {
  const mayRead = useMay('read');
  /** @param {boolean} isHere */
  const current = (isHere) => (isHere ? 'page' : undefined);
  return html`
    <nav class="navigation" aria-label="Views">
      <a href="/" aria-current=${current(view === 'fleet')} data-within=${view === 'device' || view === 'sensor'}>Fleet</a>
      <a href="/pipeline" aria-current=${current(view === 'pipeline')}>Pipeline</a>
      <a href="/dead-letters" aria-current=${current(view === 'dead-letters')}>Dead letters${mayRead && html`<${RecentDeadLetters} />`}</a>
      <a href="/docs/" title="Tutorials, how-to pages, and the interfaces" data-native>Manual</a>
    </nav>
  `;
}

/** A sign with how many came within the last hour; nothing where none did. */
function RecentDeadLetters() {
  const count = useRecentDeadLetters();
  if (!count) return null;
  const shown = count > MOST_SHOWN ? `${formatCount(MOST_SHOWN)}+` : formatCount(count);
  return html`
    <span class="navigation-count" title=${`${formatCount(count)} within the last hour`}>${shown}<span class="visually-hidden"> within the last hour</span></span>
  `;
}

const EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * How many dead letters came within the last hour; requested once a minute. A failed request is ignored, since the view of dead letters reports it.
 *
 * @returns {number} 0 as long as it is not known
 */
function useRecentDeadLetters() {
  const { client, clock } = useServices();
  const [count, setCount] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const ask = () =>
      client.deadLetterSummary({ from: clock.now() - HOUR_MS }, abort.signal).then(
        ({ items }) => setCount(items.reduce((sum, hour) => sum + hour.dead_letters, 0)),
        () => {},
      );
    // The first answer sets the clock. On a machine with a wrong clock, the hour of the first request is wrong.
    const before = aheadOf(clock);
    void ask().then(() => {
      if (!abort.signal.aborted && Math.abs(aheadOf(clock) - before) > MOVED_MS) void ask();
    });
    const timer = setInterval(ask, EVERY_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [client, clock]);
  return count;
}

/**
 * The way back up: fleet, device.
 *
 * @param {{ steps: { label: string, href: string }[] }} props
 */
export const Breadcrumbs = ({ steps }) => html`
  <nav class="breadcrumbs" aria-label="Where this is">
    <ol>
      ${steps.map(({ label, href }) => html`<li key=${href}><a href=${href}>${label}</a></li>`)}
    </ol>
  </nav>
`;
