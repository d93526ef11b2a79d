import { html } from 'htm/preact';
import { formatDateTime } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { withQuery } from '../state/router.js';

/**
 * Stands over an empty chart: why it is empty, and where there is something to see.
 *
 * @param {object} props
 * @param {boolean} props.loading
 * @param {string | null} props.newest ISO 8601 time of the sensor's newest sample
 */
export function QuietRange({ loading, newest }) {
  const { preferences, router } = useParts();
  const { zone } = useObservable(preferences);
  const place = useObservable(router.place);
  if (loading) return html`<p>Reading samples…</p>`;
  if (newest === null) return html`<p>This sensor has not measured anything yet.</p>`;
  return html`
    <p>No samples in this range. The newest is of ${formatDateTime(Date.parse(newest), zone)}.</p>
    <p><a class="button" href=${withQuery(place, { to: newest, from: null })}>Show that time</a></p>
  `;
}
