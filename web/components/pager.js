import { html } from 'htm/preact';
import { formatCounted } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

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
 * The button stays enabled for the browser, since a disabled button loses the focus. A keyboard user would start at the top again
 * while a page loads.
 *
 * @param {{ label: string, onTurn: (() => void) | null }} props
 */
const Turn = ({ label, onTurn }) =>
  html`<button type="button" class="button" aria-disabled=${!onTurn} onClick=${onTurn}>${label}</button>`;

/**
 * A walk through pages by cursor: the address has the cursor of the page shown, the browser's history entry those before it.
 *
 * @param {object} what
 * @param {string | null | undefined} what.next cursor of the page after this one; undefined: not known yet
 * @param {string} [what.top] id of what comes into sight again with another page
 * @param {(next: string | null) => Record<string, string | null>} [what.along] what else an address with that cursor needs
 * @returns {Omit<Parameters<typeof Pager>[0], 'what' | 'shown'>}
 */
export function usePages({ next, top, along }) {
  const { router } = useServices();
  const { query, pageCursors } = useObservable(router.place);
  const cursor = query.get('cursor');

  /** @param {string | null} to @param {(string | null)[]} before cursors of the pages before it */
  const turn = (to, before) => {
    router.changeQuery({ cursor: to, ...along?.(to) }, { pageCursors: before });
    if (top) document.getElementById(top)?.scrollIntoView({ block: 'nearest' });
  };

  return {
    isFirst: !cursor,
    number: cursor && pageCursors.length === 0 ? null : pageCursors.length + 1,
    onFirst: () => turn(null, []),
    onPrevious:
      pageCursors.length > 0 ? () => turn(pageCursors.at(-1) ?? null, pageCursors.slice(0, -1)) : null,
    onNext: next ? () => turn(next, [...pageCursors, cursor]) : null,
  };
}
