import { html } from 'htm/preact';
import { formatCounted } from '../format.js';

/**
 * Pages by cursor know their next one only; the ones before are those that we came through.
 *
 * @param {object} props
 * @param {string} props.what one of the rows is
 * @param {number} props.shown rows on this page
 * @param {boolean} props.isFirst
 * @param {number | null} props.number of this page; null when it was opened by its address
 * @param {boolean} [props.isSorted] the rows of each page are sorted among themselves
 * @param {(() => void) | null} props.onPrevious
 * @param {(() => void) | null} props.onNext
 * @param {() => void} props.onFirst
 */
export function Pager({ what, shown, isFirst, number, isSorted, onPrevious, onNext, onFirst }) {
  const isOneOfSome = !isFirst || onNext !== null;
  return html`
    <nav class="pager" aria-label="Pages">
      <p>${formatCounted(shown, what)} on ${number === null ? 'this page' : `page ${number}`}${isSorted && isOneOfSome ? ', sorted within it' : ''}</p>
      <${Turn} label="First" onTurn=${isFirst ? null : onFirst} />
      <${Turn} label="Previous" onTurn=${onPrevious} />
      <${Turn} label="Next" onTurn=${onNext} />
    </nav>
  `;
}

/**
 * A button that is disabled loses the focus: while a page loads, and at the last one, whoever turns pages by keyboard would be
 * thrown back to the top.
 *
 * @param {{ label: string, onTurn: (() => void) | null }} props
 */
const Turn = ({ label, onTurn }) =>
  html`<button type="button" class="button" aria-disabled=${!onTurn} onClick=${onTurn}>${label}</button>`;
