import { html } from 'htm/preact';
import { formatCount } from '../format.js';
import { useMay } from '../state/use-may.js';
import { useRecentLetters } from '../state/use-recent-letters.js';

const MOST_SHOWN = 999;

/**
 * The views that are not reached by way of another one, and the documents.
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
      <a href="/dead-letters" aria-current=${current(view === 'dead-letters')}>Dead letters${mayRead && html`<${RecentLetters} />`}</a>
      <a href="/docs" title="The interfaces, HTTP and MQTT" aria-current=${current(view === 'docs')} data-native>API</a>
    </nav>
  `;
}

/** A sign with how many came within the last hour; nothing where none did. */
function RecentLetters() {
  const letters = useRecentLetters();
  if (!letters) return null;
  const shown = letters > MOST_SHOWN ? `${formatCount(MOST_SHOWN)}+` : formatCount(letters);
  return html`
    <span class="navigation-count" title=${`${formatCount(letters)} within the last hour`}>${shown}<span class="said"> within the last hour</span></span>
  `;
}
