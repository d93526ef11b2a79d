import { html } from 'htm/preact';
import { formatAge, formatDateTime, NOTHING } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';

/** A sensor that is silent for so long is shown as old; the API calls its device offline after the same time. */
export const STALE_MS = 5 * 60_000;

/**
 * How long ago something was measured; counts on by itself.
 *
 * @param {{ ts: string | null }} props ISO 8601
 */
export function Age({ ts }) {
  const { clock, preferences } = useParts();
  const now = useObservable(clock);
  const { zone } = useObservable(preferences);
  if (ts === null) return html`<span class="age">${NOTHING}</span>`;
  const at = Date.parse(ts);
  const age = now - at;
  return html`
    <time class="age" datetime=${ts} title=${formatDateTime(at, zone)} data-stale=${age > STALE_MS}>
      ${formatAge(age)}
    </time>
  `;
}
