import { html } from 'htm/preact';

/**
 * Pages by cursor know their next one only; the ones before are those that we came through.
 *
 * @param {object} props
 * @param {string} [props.what] the rows are
 * @param {number} props.shown rows on this page
 * @param {boolean} props.isFirst
 * @param {number | null} props.number of this page; null when it was opened by its address
 * @param {(() => void) | null} props.onPrevious
 * @param {(() => void) | null} props.onNext
 * @param {() => void} props.onFirst
 */
export function Pager({ what = 'sensor', shown, isFirst, number, onPrevious, onNext, onFirst }) {
  return html`
    <nav class="pager" aria-label="Pages">
      <p>${shown} ${shown === 1 ? what : `${what}s`} on ${number === null ? 'this page' : `page ${number}`}</p>
      <button type="button" class="button" disabled=${isFirst} onClick=${onFirst}>First</button>
      <button type="button" class="button" disabled=${!onPrevious} onClick=${onPrevious}>Previous</button>
      <button type="button" class="button" disabled=${!onNext} onClick=${onNext}>Next</button>
    </nav>
  `;
}
