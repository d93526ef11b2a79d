import { html } from 'htm/preact';
import { formatDateTime, formatDuration } from '../format.js';
import { happenedAt, spanAt } from '../state/device-events.js';
import { useObservable, useParts } from '../state/hooks.js';

/** @import { Observable } from '../state/observable.js' */
/** @import { Band } from './event-band.js' */

/** @typedef {Omit<Band, 'now'>} Known */

/**
 * What the band says at the cursor, in words; without one, what is so now.
 *
 * @param {{ online: boolean, band: Known, cursor: Observable<number | null> }} props
 */
export function EventWords({ online, band, cursor }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const ts = useObservable(cursor);
  const [head, words] =
    ts === null
      ? ['State', online ? 'Online now' : 'Offline now']
      : [formatDateTime(ts, zone), wordsAt(band, ts)];
  return html`
    <p class="signal-words">
      <strong class="signal-state">${head}</strong><span>${words}</span>
    </p>
  `;
}

/** @param {Known} band @param {number} ts @returns {string} */
export function wordsAt({ events, spans, knownFrom }, ts) {
  if (knownFrom !== null && ts < knownFrom) return 'Too many events to show';
  const kinds = happenedAt(events, ts);
  if (kinds.includes('offline')) return wentOffline(spans, ts);
  if (kinds.length > 0) return kinds.join(', then ').replace(/^./, (first) => first.toUpperCase());
  const span = spanAt(spans, ts);
  if (span) return `Online for ${formatDuration(ts - span.from)}`;
  return spans.length > 0 ? 'Offline' : 'No word of its state';
}

/** @param {Known['spans']} spans @param {number} ts */
function wentOffline(spans, ts) {
  const span = spans.find(({ to }) => to === ts);
  return span ? `Offline, after ${formatDuration(ts - span.from)}` : 'Offline';
}
