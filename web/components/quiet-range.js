import { html } from 'htm/preact';
import { lengthOf, readWindow, writeWindow } from '../chart/window.js';
import { formatDateTime } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { withQuery } from '../state/router.js';

/** So much of the window is after the sample that it was moved to. */
const ROOM = 0.1;

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
    <p><a class="button" href=${withQuery(place, around(place.query, Date.parse(newest)))}>Show that time</a></p>
  `;
}

/** @param {URLSearchParams} query @param {number} newest epoch ms @returns {Record<string, string | null>} as long a window, with the newest sample well in it */
function around(query, newest) {
  const length = lengthOf(readWindow(query, newest));
  const to = newest + Math.ceil(length * ROOM);
  return writeWindow({ live: false, from: to - length, to });
}
