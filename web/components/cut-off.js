import { html } from 'htm/preact';
import { formatTime } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';

/** Says that what is shown is old. @param {{ since: number | null }} props epoch ms; null: it is not */
export function CutOff({ since }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  if (since === null) return null;
  return html`<p class="slow">The connection is lost. What follows is as it was at ${formatTime(since, zone)}.</p>`;
}
